#!/usr/bin/env python3
"""gen-docs.py OUT: the manual pages and the shells' completions, from the
tables that drive the program itself.

  src/cli/verbs.def      VERB(name, function, "synopsis", "help")
                         OPT(verb, "long", 'c' or 0, "ARG" or NULL, "help")
                         ALIAS("name", "verb", "option" or NULL, "value" or NULL)
  src/api/settings.def   SETTING("dotted.name", TYPE, "default bounds", FLAGS, "help")

OPT rows of the verb "all" belong to every verb. Written are OUT/remem.1.scd
and OUT/remem-config.5.scd (and, where scdoc is there, the pages themselves),
OUT/remem.bash, OUT/_remem and OUT/remem.fish.
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOKEN = re.compile(r'\s*(?:("(?:\\.|[^"\\])*")|(\'(?:\\.|[^\'\\])\')|([(){}\[\]])|(,)|([^\s,"\'(){}\[\]]+))')
ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}


def unquote(s):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m.group(1), m.group(0)), s[1:-1])


def table(path, macros):
    """Rows (macro, [argument, ...]) of a .def file; strings come joined and unquoted."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r'/\*.*?\*/|("(?:\\.|[^"\\])*")', lambda m: m.group(1) or " ", text, flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    for m in re.finditer(r"^\s*(%s)\s*\(" % "|".join(macros), text, re.M):
        args, depth, pos, now = [], 1, m.end(), []
        while depth:
            t = TOKEN.match(text, pos)
            if not t:
                sys.exit("%s: cannot read the row that begins with '%s'" % (path, text[m.start():m.start() + 40].strip()))
            pos = t.end()
            if t.group(3):
                depth += 1 if t.group(3) in "([{" else -1
            if (t.group(4) and depth == 1) or not depth:
                args.append("".join(now))
                now = []
            elif t.group(1) or t.group(2):
                now.append(unquote(t.group(1) or t.group(2)))
            else:
                now.append(t.group(3) or t.group(4) or t.group(5))
        yield m.group(1), args


class Verb:
    def __init__(self, name, synopsis, text):
        self.name, self.synopsis, self.text, self.options, self.aliases = name, synopsis, text, [], []


class Option:
    def __init__(self, long, short, arg, text):
        self.long, self.arg, self.text = long, "" if arg in ("NULL", "0") else arg, text
        self.short = "" if short in ("0", "NULL") else short


def load_verbs():
    verbs, common = {}, []
    for macro, a in table("src/cli/verbs.def", ("VERB", "OPT", "ALIAS")):
        if macro == "VERB":
            verbs[a[0]] = Verb(a[0], a[2], a[3])
            continue
        if macro == "ALIAS":
            verbs[a[1]].aliases.append((a[0], "" if a[2] == "NULL" else " --%s %s" % (a[2], a[3])))
            continue
        option = Option(a[1], a[2], a[3], a[4])
        if a[0] in ("all", "ALL", "common"):
            common.append(option)
        elif a[0] in verbs:
            verbs[a[0]].options.append(option)
        else:
            sys.exit("verbs.def: option '--%s' of '%s', which is no verb" % (a[1], a[0]))
    return list(verbs.values()), common


def esc(s):
    """For scdoc: what would be markup stands for itself."""
    s = re.sub(r"([\\*_`])", r"\\\1", s).replace("\n", " ")
    return re.sub(r"^([#\[\]|;.-])", r"\\\1", s)


def option_head(o):
    head = "*-%s*, " % o.short if o.short else ""
    return head + "*--%s*" % esc(o.long) + (" _%s_" % esc(o.arg) if o.arg else "")


def option_rows(options):
    return "".join("%s\n\t%s\n\n" % (option_head(o), sentence(o.text)) for o in options)


def program_page(verbs, common):
    out = ["remem(1)\n\n# NAME\n\nremem - memory for AI agents: notes in, cited answers out\n\n# SYNOPSIS\n\n"
           "*remem* _VERB_ [_OPTION_...] [_ARGUMENT_...]\n\n# DESCRIPTION\n\n"
           "Indexes a folder of Markdown notes and answers questions about them, in English and Chinese, by meaning and "
           "by keyword, with the lines that answer cited as _path#L15-L30_. Nothing leaves the machine unless a remote "
           "provider is set. The notes are never changed by indexing or searching; the index can be deleted at any "
           "time.\n\n# VERBS\n\n"]
    for v in verbs:
        synopsis = re.sub(r"^remem\s+", "", v.synopsis)
        if not re.match(re.escape(v.name) + r"\b", synopsis):
            synopsis = (v.name + " " + synopsis).strip()
        also = "".join(" *remem %s* is short for *remem %s%s*." % (n, v.name, esc(rest)) for n, rest in v.aliases)
        # scdoc takes a heading as it stands.
        out.append("## remem %s\n\n%s%s\n\n" % (synopsis, sentence(v.text), also))
        out.append(option_rows(v.options))
    if common:
        out.append("# OPTIONS OF EVERY VERB\n\n" + option_rows(common))
    out.append("# EXIT STATUS\n\n*0*\n\tDone, also when nothing was found.\n\n*1*\n\tFailed.\n\n*2*\n\tThe command line makes "
               "no sense.\n\n*3*\n\tPartly done; the output says what is missing.\n\n"
               "# ENVIRONMENT\n\n*REMEM\\_WORKSPACE*\n\tThe workspace, if *--workspace* does not name one.\n\n"
               "*REMEM\\_CPU*\n\tUpper bound for the vector instructions: _portable_, _avx2_, _avx512_.\n\n"
               "*REMEM\\_TRACE*\n\tComponents whose log goes to stderr: _embed,store_, or _all,-http_.\n\n"
               "*NO\\_COLOR*\n\tNo colours.\n\n"
               "# FILES\n\n_$XDG\\_CONFIG\\_HOME/remem/config.yaml_\n\tThe user's settings.\n\n"
               "_remem.yaml_ in the workspace\n\tIts settings; only safe keys count unless it is trusted.\n\n"
               "_$XDG\\_CACHE\\_HOME/remem/_\n\tThe index. May be deleted, *remem index* makes it again.\n\n"
               "_$XDG\\_STATE\\_HOME/remem/_\n\tWhat cannot be made again. Keep it.\n\n"
               "# SEE ALSO\n\n*remem-config*(5)\n")
    return "".join(out)


KINDS = {"BOOL": "true or false", "INT": "whole number", "NUM": "number", "STR": "text", "ENUM": "choice", "LIST": "list",
         "MAP": "names and texts", "PATHS": "list of folders, files or {path, pattern}", "TREE": "anything"}


def setting_said(kind, default):
    """What a setting takes and what it is when nobody says anything."""
    first, _, rest = default.partition(" ")
    said = KINDS.get(kind, kind.lower())
    if kind == "ENUM":
        said = "one of " + ", ".join("_%s_" % esc(c) for c in rest.split("|"))
    elif kind in ("INT", "NUM") and rest:
        said += " " + esc(rest.replace("..", " to "))
    if kind in ("STR", "LIST", "PATHS", "MAP"):
        first = default
    return said + (", default _%s_" % esc(first) if first else "")


def sentence(s):
    s = esc(s[:1].upper() + s[1:])
    return s if s.endswith((".", "…")) else s + "."


def config_page(settings):
    out = ["remem-config(5)\n\n# NAME\n\nremem-config - settings of remem\n\n# DESCRIPTION\n\n"
           "Settings are YAML (JSON is read as well) in _$XDG\\_CONFIG\\_HOME/remem/config.yaml_. What stands in "
           "_remem.yaml_ of the workspace goes before it: keys marked _safe_ always, the others once *remem trust* was "
           "said. The variables *REMEM\\_...* and the command line go before both. *remem config list* shows every "
           "value and where it comes from. An unknown key is a warning and the rest works.\n\n"
           "Keys stand under _agents: defaults:_, or without these two. Keys marked _later_ are read and "
           "have no effect in this version.\n\n# SETTINGS\n\n"]
    moved = []
    for name, kind, default, flags, text in settings:
        if kind == "ALIAS":
            moved.append("*%s*\n\tThe same as *%s*.\n\n" % (esc(name), esc(default)))
        elif kind == "REFUSED":
            moved.append("*%s*\n\tNot taken: %s.\n\n" % (esc(name), esc(text)))
        else:
            marks = [m.lower() for m in ("SAFE", "SECRET", "LATER") if m in flags.split("|")]
            out.append("*%s* (%s%s)\n\t%s\n\n" % (esc(name), setting_said(kind, default),
                                                   "".join("; _%s_" % m for m in marks), sentence(text)))
    out += ["# OTHER NAMES\n\n"] + moved if moved else []
    out.append("# SEE ALSO\n\n*remem*(1)\n")
    return "".join(out)


def load_settings():
    return [(a[0], a[1], a[2], a[3], a[4]) for _, a in table("src/api/settings.def", ("SETTING",))]


def bash_completion(verbs, common):
    cases = "".join('\t%s) words="%s" ;;\n' % ("|".join([v.name] + [a for a, _ in v.aliases]), " ".join("--" + o.long for o in v.options + common)) for v in verbs)
    takes = sorted({"--" + o.long for v in verbs for o in v.options if o.arg} | {"--" + o.long for o in common if o.arg}) or ["--"]
    return """# bash completion for remem; made from the program's own table.
_remem()
{
	local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= words= w skip=
	for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		if [ -n "$skip" ]; then
			skip=
			continue
		fi
		case $w in
		%s) skip=1 ;;
		-*) ;;
		*) verb=$w; break ;;
		esac
	done
	case $before in
	--mode) COMPREPLY=($(compgen -W "hybrid text vector" -- "$now")); return ;;
	--progress) COMPREPLY=($(compgen -W "auto bar ndjson off" -- "$now")); return ;;
	--workspace) COMPREPLY=($(compgen -d -- "$now")); return ;;
	%s) COMPREPLY=($(compgen -f -- "$now")); return ;;
	esac
	if [ -z "$verb" ]; then
		COMPREPLY=($(compgen -W "%s" -- "$now"))
		return
	fi
	case $verb in
%s	esac
	case $now in
	-*) COMPREPLY=($(compgen -W "$words" -- "$now")) ;;
	*) COMPREPLY=($(compgen -f -- "$now")) ;;
	esac
}
complete -F _remem remem
""" % ("|".join(takes), "|".join(takes),
       " ".join(n for v in verbs for n in [v.name] + [a for a, _ in v.aliases]), cases)


def zsh_quote(s):
    return s.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_option(o):
    body = "[%s]" % zsh_quote(o.text)
    arg = ":%s:_files" % zsh_quote(o.arg.lower()) if o.arg else ""
    rows = ["'--%s%s%s'" % (o.long, body, arg)]
    if o.short:
        rows.append("'-%s%s%s'" % (o.short, body, arg))
    return rows


def zsh_completion(verbs, common):
    names = "\n".join("\t'%s:%s'" % (v.name, zsh_quote(v.text)) for v in verbs)
    cases = []
    for v in verbs:
        rows = [r for o in v.options + common for r in zsh_option(o)] + ["'*:file:_files'"]
        cases.append("\t%s)\n\t\t_arguments %s ;;" % (v.name, " \\\n\t\t\t".join(rows)))
    return """#compdef remem
# zsh completion for remem; made from the program's own table.
local -a verbs
verbs=(
%s
)
if (( CURRENT == 2 )); then
	_describe 'verb' verbs
	return
fi
shift words
(( CURRENT-- ))
case $words[1] in
%s
esac
""" % (names, "\n".join(cases))


def fish_quote(s):
    return "'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_completion(verbs, common):
    out = ["# fish completion for remem; made from the program's own table.", "complete -c remem -n __fish_use_subcommand -f"]
    for v in verbs:
        out.append("complete -c remem -n __fish_use_subcommand -a %s -d %s" % (v.name, fish_quote(v.text)))
    for condition, options in [("", common)] + [("-n '__fish_seen_subcommand_from %s' " % v.name, v.options) for v in verbs]:
        for o in options:
            out.append("complete -c remem %s%s-l %s%s -d %s" % (condition, "-s %s " % o.short if o.short else "", o.long,
                                                               " -r" if o.arg else "", fish_quote(o.text)))
    return "\n".join(out) + "\n"


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write(text)


def man_page(folder, name):
    if not shutil.which("scdoc"):
        return
    env = dict(os.environ, SOURCE_DATE_EPOCH=os.environ.get("SOURCE_DATE_EPOCH", "0"))
    with open(os.path.join(folder, name + ".scd"), "rb") as src, open(os.path.join(folder, name), "wb") as dst:
        if subprocess.run(["scdoc"], stdin=src, stdout=dst, env=env, check=False).returncode:
            sys.exit("scdoc does not take %s.scd" % name)


def main():
    folder = os.path.join(ROOT, sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    verbs, common = load_verbs()
    write(folder, "remem.1.scd", program_page(verbs, common))
    write(folder, "remem.bash", bash_completion(verbs, common))
    write(folder, "_remem", zsh_completion(verbs, common))
    write(folder, "remem.fish", fish_completion(verbs, common))
    man_page(folder, "remem.1")
    if os.path.isfile(os.path.join(ROOT, "src/api/settings.def")):
        write(folder, "remem-config.5.scd", config_page(load_settings()))
        man_page(folder, "remem-config.5")


if __name__ == "__main__":
    main()
