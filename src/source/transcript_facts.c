/* Times and names as transcripts write them. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "source/transcript_format.h"

#define DAY_MS 86400000ll
#define MIN_MS (631152000ll * 1000) /* 1990 */
#define MAX_MS (7258118400ll * 1000) /* 2200 */
/* A number of seconds up to the year 2200 is less, one of milliseconds since
 * 1990 more. */
#define SECONDS_BELOW 1e11

static int64_t bounded(int64_t ms)
{
	return ms >= MIN_MS && ms < MAX_MS ? ms : 0;
}

static bool number(int *out, const char *s, size_t n)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		*out = *out * 10 + (s[i] - '0');
	}
	return true;
}

/* "+02:00", "-0730", "Z", "" as minutes. */
static int zone_minutes(const char *s)
{
	int h, m, sign = *s == '-' ? -1 : 1;

	if ((*s != '+' && *s != '-') || strlen(s) < 5 || !number(&h, s + 1, 2))
		return 0;
	s += s[3] == ':' ? 4 : 3;
	return strlen(s) >= 2 && number(&m, s, 2) ? sign * (h * 60 + m) : 0;
}

static int64_t iso_ms(const char *s, size_t len)
{
	int h, m, sec, ms = 0, scale = 100;
	int32_t day;

	if (len < 10 || !date_parse(&day, s, 10))
		return 0;
	if (len < 19 || (s[10] != 'T' && s[10] != ' ') ||
	    !number(&h, s + 11, 2) || s[13] != ':' || !number(&m, s + 14, 2) ||
	    s[16] != ':' || !number(&sec, s + 17, 2))
		return bounded(day * DAY_MS);
	s += 19;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++, scale /= 10)
			ms += (*s - '0') * scale;
	return bounded(day * DAY_MS + ((h * 60ll + m - zone_minutes(s)) * 60 +
				       sec) * 1000 + ms);
}

int64_t transcript_time(yyjson_val *v)
{
	double d;

	if (yyjson_is_str(v))
		return iso_ms(yyjson_get_str(v), yyjson_get_len(v));
	if (!yyjson_is_num(v))
		return 0;
	d = yyjson_get_num(v);
	if (!(d > 0 && d < 1e16))
		return 0;
	return bounded((int64_t)(d < SECONDS_BELOW ? d * 1000 : d));
}

void transcript_set(struct transcript *t, const char **field, yyjson_val *v)
{
	const char *s = yyjson_get_str(v);

	if (!s || !*s || (*field && !strcmp(*field, s)))
		return;
	*field = arena_strdup(&t->a, s);
}
