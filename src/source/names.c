/* Rules about names. */
#include "source/names.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "source/source.h"

static const char *const images[] = { ".jpg", ".jpeg", ".png", ".webp",
				      ".gif", ".heic", ".heif" };
static const char *const recordings[] = { ".mp3", ".wav", ".ogg", ".opus",
					  ".m4a", ".aac", ".flac" };
static const char *const temps[] = { ".tmp", "~", ".swp", ".swo", ".swx",
				     ".crswap" };
static const char *const tool_folders[] = { "node_modules", ".venv", "venv",
					    "__pycache__", ".tox",
					    ".pnpm-store" };

const char *const name_fixed_files[] = { "DREAMS.md", "MEMORY.md", "USER.md",
					 "memory.md", NULL };

const char *const name_ignore_files[] = { ".gitignore", ".ignore",
					  ".rememignore", NULL };

static bool ends(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && !strcasecmp(s + n - m, end);
}

static bool ends_in(const char *s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ends(s, list[i]))
			return true;
	return false;
}

unsigned name_media_kind(const char *name)
{
	if (ends_in(name, images, ARRAY_LEN(images)))
		return SOURCE_IMAGE;
	return ends_in(name, recordings, ARRAY_LEN(recordings)) ?
		       SOURCE_SOUND : 0;
}

const char *name_media(const char *name)
{
	static const char *const why[] = {
		NULL, "media needs a provider that takes images",
		"media needs a provider that takes audio"
	};

	return why[name_media_kind(name)];
}

bool name_is_temp(const char *name)
{
	/* vi tries whether it may write a folder by a file of this name. */
	if (!strcmp(name, "4913") || !strncmp(name, ".#", 2))
		return true;
	return !name_is_note(name) && ends_in(name, temps, ARRAY_LEN(temps));
}

/* '0' in shape stands for a digit. */
static bool has_shape(const char *s, const char *shape)
{
	for (; *shape; s++, shape++)
		if (*shape == '0' ? !isdigit((unsigned char)*s) : *s != *shape)
			return false;
	return true;
}

static bool has_behind(const char *name, const char *word, const char *shape)
{
	for (const char *s = name; (s = strstr(s, word)); s++)
		if (has_shape(s + strlen(word), shape))
			return true;
	return false;
}

bool name_is_conflict(const char *name)
{
	size_t n = strlen(name);
	const char *s = name;

	/* A letter that few names have: this is asked for each file. */
	while ((s = memchr(s, 'f', n - (size_t)(s - name))) &&
	       strncmp(s, "flict", 5) != 0)
		s++;
	if (!s)
		return false;
	/* Syncthing; Dropbox and Nextcloud; Seafile. With their dates, so that
	 * a note about a conflict stays a note. */
	return has_behind(name, ".sync-conflict-", "00000000-000000") ||
	       has_behind(name, "conflicted copy ", "0000-00-00") ||
	       strstr(name, "(SFConflict ");
}

bool name_is_tool_folder(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(tool_folders); i++)
		if (!strcmp(name, tool_folders[i]))
			return true;
	return false;
}

int name_ignore_file(const char *name)
{
	for (int i = 0; name_ignore_files[i]; i++)
		if (!strcmp(name, name_ignore_files[i]))
			return i;
	return -1;
}
