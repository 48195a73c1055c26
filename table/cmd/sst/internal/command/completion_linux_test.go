package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// oddNames are names of tables that a shell must quote, each with a different first character. If a shell evaluates
// one, it creates the file pwned.
var oddNames = []string{
	"spa ce.ldb", "it's.ldb", `dou"ble.ldb`, "$HOME.ldb", "x$(touch pwned).ldb", "`touch pwned`.ldb", "new\nline.ldb", "ta\tb.ldb",
	`\back.ldb`, ";semi&colon.ldb", "co:lo:n.ldb", "eq=u=al.ldb", "~tilde.ldb", "*star?.ldb", "ümlaut.ldb", "#hash.ldb", "(par[en.ldb", "@at.ldb", "!bang!.ldb",
}

// On ^T, each shell prints the words of its line, each with a bar after it, and with ␤ for a newline and ␉ for a tab.
// Then it clears the line.
const (
	bashRC = `source <(sst completion bash)
words() {
	eval "words=($READLINE_LINE)"
	printf -v all '%s|' "${words[@]}"
	all=${all//$'\t'/␉}
	printf '\n‹%s›\n' "${all//$'\n'/␤}"
	READLINE_LINE= READLINE_POINT=0
}
bind -x '"\C-t": words'
echo ‹ready›
`
	zshRC = `autoload -U compinit; compinit -u
source <(sst completion zsh)
words() {
	local -a words=("${(@Q)${(z)BUFFER}}")
	print -r -- $'\n'"‹${${${(j:|:)words}//$'\n'/␤}//$'\t'/␉}|›"
	BUFFER=
}
zle -N words; bindkey '^T' words; bindkey '^I' complete-word; bindkey '^U' kill-whole-line
print ‹ready›
`
	fishRC = `sst completion fish | source
function fish_prompt; end
function fish_greeting; end
function words
	commandline -r -- (commandline | string replace -a '\\n' ␤ | string replace -a '\\t' ␉)
	printf '\n‹%s|›\n' (string join -- '|' (commandline -o))
	commandline ''
end
bind \ct words
bind \cu 'commandline ""'
echo ‹ready›
`
)

// startBash, startZsh and startFish start a shell with nothing but the completion of sst.
func startBash(t *testing.T, dir string) *shell {
	t.Helper()
	rc := filepath.Join(t.TempDir(), "rc")
	writeFile(t, rc, bashRC)
	return startShell(t, dir, "bash", "--noprofile", "--rcfile", rc, "-i")
}

func startZsh(t *testing.T, dir string) *shell {
	t.Helper()
	writeFile(t, filepath.Join(dir, ".zshrc"), zshRC)
	return startShell(t, dir, "zsh", "-i")
}

func startFish(t *testing.T, dir string) *shell {
	t.Helper()
	writeFile(t, filepath.Join(dir, ".config/fish/config.fish"), fishRC)
	// Without this directory, fish fills it in the background, even after it has exited.
	noError(t, os.MkdirAll(filepath.Join(dir, ".local/share/fish/generated_completions"), 0o777))
	return startShell(t, dir, "fish", "-i")
}

// shellsToTry are the shells whose completion is tested. Those that are not installed are skipped.
var shellsToTry = map[string]func(*testing.T, string) *shell{"bash": startBash, "zsh": startZsh, "fish": startFish}

// writeTree writes files of all kinds.
func writeTree(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{
		"users.ldb", "users.txt", "words.sst", "db/CURRENT", "db/000003.log", "db/000005.ldb", "db/MANIFEST-000004",
		"set/set.jsonl", "part.json", "part.txt", "page.html", "page.ldb", ".hidden/x.ldb",
	} {
		writeFile(t, filepath.Join(dir, name), "")
	}
	return dir
}

// On TAB, shells complete commands, flags, their values, and files that the command accepts.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	for name, start := range shellsToTry {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, writeTree(t))
			for _, tt := range []struct{ keys, want string }{
				{"veri", "verify|"},
				{"get --comp", "get|--comparator|"},
				{"get --comparator r", "get|--comparator|reverse|"},
				{"get --comparator=r", "get|--comparator=reverse|"},
				{"build --table-filter fuse:1", "build|--table-filter|fuse:1|"}, // a number is free
				{"completion z", "completion|zsh|"},
				{"get u", "get|users.ldb|"},
				{"get d", "get|db/|"},
				{"get db/000005", "get|db/000005.ldb|"},
				{"get db/C", "get|db/C|"},
				{"get users.ldb u", "get|users.ldb|u|"},
				{"diff users.ldb w", "diff|users.ldb|words.sst|"},
				{"layout db/M", "layout|db/MANIFEST-000004|"},
				{"convert db/", "convert|db/000005.ldb|"},
				{"manifest part", "manifest|part.json|"},
				{"scan set/", "scan|set/set.jsonl|"},
				{"scan .h", "scan|.hidden/|"},
				{"build users.t", "build|users.txt|"},
				{"build --temp-dir d", "build|--temp-dir|db/|"},
				{"build --temp-dir u", "build|--temp-dir|u|"},
				{"get --keys-from users.t", "get|--keys-from|users.txt|"},
				{"get --keys-from=users.t", "get|--keys-from=users.txt|"},
				{"report users.ldb -o pag", "report|users.ldb|-o|page.html|"},
				{"version p", "version|p|"},
			} {
				if got := s.typed("sst " + tt.keys + "\t\x14"); got != "sst|"+tt.want {
					t.Errorf("%s makes of sst %s\n%s, want\nsst|%s", name, tt.keys, got, tt.want)
				}
			}
		})
	}
}

// In bash, M-* puts all completions on the line. Variables and ~ are expanded.
func TestBashLists(t *testing.T) {
	t.Parallel()
	dir := writeTree(t)
	s := startBash(t, dir)
	for _, tt := range []struct{ keys, want string }{
		{"build -c \x1b*", "build|-c|deflate|none|snappy|zlib|zstd|"},
		{"get \x1b*", "get|db|page.ldb|set|users.ldb|words.sst|"},
		{"get users.ldb \x1b*", "get|users.ldb|"},
		{"get $DB/\x1b*", "get|db/000003.log|db/000005.ldb|"},
		{"get $DB/*5.l*\t", "get|db/000005.ldb|"},
		{"get ~/w\t", "get|" + dir + "/words.sst|"},
		{"layout db/\x1b*", "layout|db/000003.log|db/000005.ldb|db/MANIFEST-000004|"},
		{"scan -n \x1b*", "scan|-n|"},
		{"build x\x1b[D\x1b*", "build|.hidden|db|page.html|page.ldb|part.json|part.txt|set|users.ldb|users.txt|words.sst|x|"},
	} {
		if got := s.typed("sst " + tt.keys + "\x14"); got != "sst|"+tt.want {
			t.Errorf("bash makes of sst %q\n%s, want\nsst|%s", tt.keys, got, tt.want)
		}
	}
}

// A name is completed to one word, whatever its characters, and however its start is quoted.
func TestShellsCompleteOddNames(t *testing.T) {
	t.Parallel()
	for shell, start := range shellsToTry {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := start(t, dir)
			for _, name := range oddNames {
				writeFile(t, filepath.Join(dir, name), "")
			}
			for _, name := range oddNames {
				want := "sst|get|" + strings.NewReplacer("\n", "␤", "\t", "␉").Replace(name) + "|"
				if shell == "fish" && strings.Contains(name, "\t") {
					want = "sst|get|t|" // its words cannot have tabs: no name is better than a wrong one
				}
				for _, start := range quotedStarts(shell, name) {
					if got := s.typed("sst get " + start + "\t\x14"); got != want {
						t.Errorf("%s makes of %s\n%s, want\n%s", shell, start, got, want)
					}
				}
			}
			for _, command := range []string{"$(touch pwned)", "`touch pwned`", "'x; touch pwned;' ", "x; touch pwned;", `"$(touch pwned)`} {
				s.typed("sst get " + command + "\t\x15\x14") // ^U: it is not run
			}
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Error("a word was evaluated")
			}
		})
	}
}

// quotedStarts quotes starts of a name in ways that the shell accepts.
func quotedStarts(shell, name string) []string {
	first, size := utf8.DecodeRuneInString(name)
	switch {
	case shell == "fish" && first == '*':
		return nil // it completes no word with a quoted star
	case shell == "fish" && unicode.IsLetter(first):
		return []string{name[:size]} // \n is a newline, \t a tab
	case shell != "bash":
		return []string{`\` + name[:size]}
	}
	quoted := "'" + strings.ReplaceAll(strings.TrimSuffix(name, "e.ldb"), "'", `'\''`) + "'"
	quoted = strings.NewReplacer("\n", "\x16\n", "\t", "\x16\t").Replace(quoted) // ^V: it does not end the line, or complete it
	return []string{`\` + name[:size], `"\` + name[:size], quoted, quoted[:len(quoted)-1]}
}
