package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"
)

// oddNames are names of tables that a shell must quote, each with a first character of its own.
// If one is evaluated, there is a file of the name pwned.
var oddNames = []string{
	"spa ce.ldb", "it's.ldb", `dou"ble.ldb`, "$HOME.ldb", "x$(touch pwned).ldb", "`touch pwned`.ldb", "new\nline.ldb",
	`\back.ldb`, ";semi&colon.ldb", "co:lo:n.ldb", "eq=u=al.ldb", "~tilde.ldb", "*star?.ldb", "ümlaut.ldb", "#hash.ldb", "(par[en.ldb", "@at.ldb", "!bang!.ldb",
}

// openTerminal returns the two ends of a terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	var number, unlocked uint32
	for request, arg := range map[uintptr]*uint32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlocked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(arg))); errno != 0 {
			t.Fatal(errno)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// A shell is an interactive one on a terminal.
type shell struct {
	t        *testing.T
	terminal *os.File
	lines    *bufio.Scanner
}

// startShell starts a shell that has its home and its directory in dir.
func startShell(t *testing.T, dir, name string, args ...string) *shell {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	master, slave := openTerminal(t)
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, slave, slave, slave
	cmd.Env = append(os.Environ(), "PATH="+sstInPath(t)+":"+os.Getenv("PATH"), "HOME="+dir, "TERM=dumb", "INPUTRC=/dev/null", "PS1=", "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	stuck := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }) // ends awaiting
	t.Cleanup(func() {
		stuck.Stop()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &shell{t, master, bufio.NewScanner(master)}
}

// typed types keys and returns what the shell then prints between ‹ and ›.
func (s *shell) typed(keys string) string {
	s.t.Helper()
	if _, err := s.terminal.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
	for s.lines.Scan() {
		if _, after, ok := strings.Cut(s.lines.Text(), "‹"); ok {
			if answer, _, ok := strings.Cut(after, "›"); ok {
				return answer
			}
		}
	}
	s.t.Fatalf("the shell ended when %q was typed: %v", keys, s.lines.Err())
	return ""
}

// writeNames writes empty files, and directories for names that end in a slash.
func writeNames(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o777); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// startBash starts a bash that has nothing but the completion of sst. It answers ^T with the
// words of the line, with a bar behind each, and with ␤ for a newline. Then the line is empty.
func startBash(t *testing.T, dir string) *shell {
	t.Helper()
	rc := filepath.Join(t.TempDir(), "rc")
	contents := `source <(sst completion bash)
words() {
	eval "words=($READLINE_LINE)"
	printf -v all '%s|' "${words[@]}"
	printf '\n‹%s›\n' "${all//$'\n'/␤}"
	READLINE_LINE= READLINE_POINT=0
}
bind -x '"\C-t": words'
DB=db
echo ‹ready›
`
	if err := os.WriteFile(rc, []byte(contents), 0o666); err != nil {
		t.Fatal(err)
	}
	s := startShell(t, dir, "bash", "--noprofile", "--rcfile", rc, "-i")
	s.typed("")
	return s
}

// What bash makes of a TAB, or of M-*, which puts all completions on the line.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeNames(t, dir, "users.ldb", "users.txt", "words.sst", "db/CURRENT", "db/000003.log", "db/000005.ldb", "db/MANIFEST-000004", "set/set.jsonl", "part.json", "page.html", ".hidden/x.ldb")
	s := startBash(t, dir)
	const tab, all = "\t", "\x1b*"
	for _, tt := range []struct{ keys, want string }{
		{"sst ver" + tab, "sst|verify|"},
		{"sst get --comp" + tab, "sst|get|--comparator|"},
		{"sst get --comparator r" + tab, "sst|get|--comparator|reverse|"},
		{"sst get --comparator=r" + tab, "sst|get|--comparator=reverse|"},
		{"sst build -c " + all, "sst|build|-c|deflate|none|snappy|zlib|zstd|"},
		{"sst fpr --policy bloom,f" + tab, "sst|fpr|--policy|bloom,fuse|"},
		{"sst completion " + all, "sst|completion|bash|fish|powershell|zsh|"},
		{"sst get " + all, "sst|get|db|set|users.ldb|words.sst|"},
		{"sst get u" + tab, "sst|get|users.ldb|"},
		{"sst get d" + tab + tab + all, "sst|get|db/000003.log|db/000005.ldb|"},
		{"sst get $DB/*5*" + tab, "sst|get|db/000005.ldb|"},
		{"sst get $DB/" + all, "sst|get|db/000003.log|db/000005.ldb|"},
		{"sst get ~/w" + tab, "sst|get|" + dir + "/words.sst|"},
		{"sst get users.ldb " + all, "sst|get|users.ldb|"},
		{"sst diff users.ldb w" + tab, "sst|diff|users.ldb|words.sst|"},
		{"sst layout db/" + all, "sst|layout|db/000003.log|db/000005.ldb|db/MANIFEST-000004|"},
		{"sst convert db/" + all, "sst|convert|db/000005.ldb|"},
		{"sst manifest p" + tab, "sst|manifest|part.json|"},
		{"sst scan set/" + tab, "sst|scan|set/set.jsonl|"},
		{"sst scan .h" + tab + tab, "sst|scan|.hidden/x.ldb|"},
		{"sst build users.t" + tab, "sst|build|users.txt|"},
		{"sst build --temp-dir " + all, "sst|build|--temp-dir|db|set|"},
		{"sst get --keys-from=users.t" + tab, "sst|get|--keys-from=users.txt|"},
		{"sst get --keys-from users.t" + tab, "sst|get|--keys-from|users.txt|"},
		{"sst report users.ldb -o p" + tab, "sst|report|users.ldb|-o|page.html|"},
		{"sst plan -n " + all, "sst|plan|-n|"},
		{"sst play p" + tab, "sst|play|p|"},
	} {
		if got := s.typed(tt.keys + "\x14"); got != tt.want {
			t.Errorf("bash makes of %q\n%s, want\n%s", tt.keys, got, tt.want)
		}
	}
}

// Whatever characters a name has, and however its start is quoted, it becomes one word.
func TestBashCompletesOddNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeNames(t, dir, oddNames...)
	s := startBash(t, dir)
	for _, name := range oddNames {
		_, size := utf8.DecodeRuneInString(name)
		quoted := "'" + strings.ReplaceAll(strings.TrimSuffix(name, "e.ldb"), "'", `'\''`) + "'"
		want := "sst|get|" + strings.ReplaceAll(name, "\n", "␤") + "|"
		for _, start := range []string{`\` + name[:size], `"\` + name[:size], quoted, quoted[:len(quoted)-1]} {
			start = strings.ReplaceAll(start, "\n", "\x16\n") // ^V: it does not end the line
			if got := s.typed("sst get " + start + "\t\x14"); got != want {
				t.Errorf("bash makes of %s\n%s, want\n%s", start, got, want)
			}
		}
	}
	for _, command := range []string{"$(touch pwned)", "`touch pwned`", "x; touch pwned;", `"$(touch pwned)`} {
		s.typed("sst get " + command + "\t\x15\x14") // ^U: it is not run
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a name was evaluated")
	}
}
