load common

# The workspace under git.
setup() {
	begin
	no_vectors
	unset "${!GIT_@}"
	export GIT_CONFIG_NOSYSTEM=1
	git config --global user.name Ann
	git config --global user.email ann@example.org
	git config --global init.defaultBranch main
}

commit_at() { # DATE
	GIT_AUTHOR_DATE="$1T12:00:00" GIT_COMMITTER_DATE="$1T12:00:00" "$REMEM" git commit
}

@test "memory files alone are committed, with counts as message" {
	run_split "$REMEM" git status --json
	is 'd["repository"]' null
	run_split "$REMEM" git commit
	[ "$status" = 1 ]
	says "$errors" 'git init'
	"$REMEM" git init
	run_split "$REMEM" git init
	says "$output" 'there is a repository'
	echo secret >other.txt
	echo staged >staged.txt && git add staged.txt
	run_split "$REMEM" git commit
	[ "$status" = 0 ]
	[ "$(git ls-files)" = $'MEMORY.md\nmemory/2026-03-01.md\nstaged.txt' ]
	[ "$(git show --name-only --format=%s HEAD)" = $'memory: 2 added\n\nMEMORY.md\nmemory/2026-03-01.md' ]
	[ "$(git diff --cached --name-only)" = staged.txt ]
	run_split "$REMEM" git commit --json
	is 'd["commit"]' null
	rm memory/2026-03-01.md
	echo '- more' >>MEMORY.md
	echo '- 新的笔记' >"memory/中文 a.md"
	run_split "$REMEM" git status --json
	is 'sorted((c["path"], c["what"]) for c in d["changes"])' \
		'[["MEMORY.md", "changed"], ["memory/2026-03-01.md", "removed"], ["memory/中文 a.md", "added"]]'
	"$REMEM" git commit
	[ "$(git log -1 --format=%s)" = 'memory: 1 added, 1 changed, 1 removed' ]
	run_split "$REMEM" git log --json
	is '[e["subject"] for e in d["entries"]]' '["memory: 1 added, 1 changed, 1 removed", "memory: 2 added"]'
}

@test "inside a bigger repository nothing else is touched" {
	cd "$BATS_TEST_TMPDIR"
	git init -q . && echo x >code.c && git add code.c && git commit -qm code
	echo y >>code.c
	run_split "$REMEM" git init -w notes
	says "$output" 'there is a repository'
	"$REMEM" git commit -w notes
	[ "$(git show --name-only --format= HEAD)" = $'notes/MEMORY.md\nnotes/memory/2026-03-01.md' ]
	[ "$(git status --porcelain code.c)" = ' M code.c' ]
}

@test "a rebase or a merge is waited out, a hook is obeyed" {
	"$REMEM" git init && "$REMEM" git commit
	echo '- x' >>MEMORY.md
	mkdir .git/rebase-merge
	run_split "$REMEM" git commit --json
	[ "$status" = 1 ]
	is 'd["error"]["type"]' busy
	rmdir .git/rebase-merge
	printf '#!/bin/sh\necho no commits today >&2\nexit 1\n' >.git/hooks/pre-commit
	chmod +x .git/hooks/pre-commit
	run_split "$REMEM" git commit
	[ "$status" = 1 ]
	says "$errors" 'no commits today'
	rm .git/hooks/pre-commit
	"$REMEM" git commit
	[ -z "$(git status --porcelain)" ]
}

@test "commits by themselves only where asked for" {
	"$REMEM" git init && "$REMEM" git commit
	"$REMEM" add 'one'
	[ "$(git rev-list --count HEAD)" = 1 ]
	"$REMEM" add 'two' --set git.commit=change
	[ "$(git rev-list --count HEAD)" = 2 ]
	"$REMEM" add 'three' --set git.commit=hourly
	[ "$(git rev-list --count HEAD)" = 2 ]
	[ -z "$(git remote)" ]
	run_split "$REMEM" add 'four' --set git.commit=change --dry-run
	[ "$(git rev-list --count HEAD)" = 2 ]
}

@test "memory as it stood on a day" {
	"$REMEM" git init
	commit_at 2026-03-01
	printf -- '- Ann moved to Oslo\n' >memory/2026-03-01.md
	echo '- 新办公室在三楼' >memory/office.md
	commit_at 2026-03-10
	run_split "$REMEM" search 'where did Ann move?' --as-of 2026-03-05
	says "$output" Berlin
	silent "$output" Oslo
	run_split "$REMEM" search 'where did Ann move?' --as-of 2026-03-10
	says "$output" Oslo
	run_split "$REMEM" search '办公室在几楼' --as-of 2026-03-05 --json
	is 'd["results"]' '[]'
	run_split "$REMEM" get memory/2026-03-01.md --as-of 2026-03-02
	says "$output" Berlin
	run_split "$REMEM" get memory/office.md --as-of 2026-03-02
	[ "$status" = 1 ]
	run_split "$REMEM" search x --as-of 2025-01-01
	[ "$status" = 1 ]
	says "$errors" 'no commit up to'
	run_split "$REMEM" search x --as-of yesterday
	[ "$status" = 2 ]
	# The workspace's own answers are as before.
	run_split "$REMEM" search 'where did Ann move?'
	says "$output" Oslo
}

@test "without git it says so, and a hostile commit cannot lead out" {
	"$REMEM" git init && "$REMEM" git commit
	mkdir "$BATS_TEST_TMPDIR/bin"
	run_split env "PATH=$BATS_TEST_TMPDIR/bin" "$REMEM" git status
	[ "$status" = 1 ]
	says "$errors" 'not installed'
	run_split "$REMEM" git push
	[ "$status" = 2 ]
	run_split "$REMEM" git commit --read-only
	[ "$status" = 1 ]
	# A link in the history is no note.
	ln -s /etc/passwd memory/link.md
	"$REMEM" git commit
	run_split "$REMEM" get memory/link.md --as-of 2999-01-01
	[ "$status" != 0 ]
}
