package progress

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
)

// openTerminal returns a terminal of that many columns, and a channel of the output written to it, split at each
// mark.
func openTerminal(t *testing.T, columns int) (end *os.File, output <-chan string) {
	t.Helper()
	screen, end := scripttest.Terminal(t)
	resize(t, end, columns)
	parts := make(chan string)
	go func() {
		defer close(parts)
		for in := bufio.NewReader(screen); ; {
			part, err := in.ReadString(mark)
			if err != nil { // end is closed
				return
			}
			parts <- strings.ReplaceAll(part[:len(part)-1], "\r\n", "\n")
		}
	}()
	return end, parts
}

func resize(t *testing.T, end *os.File, columns int) {
	t.Helper()
	errtest.NoError(t, unix.IoctlSetWinsize(int(end.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: 24}))
}

// mark is a byte that is not written otherwise.
const mark = '\x04'

// written returns the output since the last mark.
func written(t *testing.T, end *os.File, output <-chan string) string {
	t.Helper()
	_, err := end.Write([]byte{mark})
	errtest.NoError(t, err)
	return <-output
}

// shown returns the lines that a terminal shows after this output, and the maximum number of columns in use.
func shown(t *testing.T, output string) (lines []string, most int) {
	t.Helper()
	var line []byte
	column := 0
	for _, c := range []byte(output) {
		switch {
		case c == '\r':
			column = 0
		case c == '\n':
			lines, line = append(lines, strings.TrimRight(string(line), " ")), nil
		case c < ' ' || c > '~':
			t.Fatalf("byte %#x in %q", c, output)
		default:
			line = append(line[:column], append([]byte{c}, line[min(len(line), column+1):]...)...)
			column++
			most = max(most, column)
		}
	}
	return append(lines, strings.TrimRight(string(line), " ")), most
}

// At any width, a Bar stays on its line, gives way to other output, and leaves nothing behind. It uses no escape
// codes.
func TestBarOnTerminal(t *testing.T) {
	for columns, want := range map[int]string{40: "verifying  99 %", 80: "verifying  99 %  [=", 0: "verifying  99 %"} {
		end, output := openTerminal(t, columns)
		synctest.Test(t, func(t *testing.T) {
			bar := Bytes(Over(end), 1000, "verifying")
			for i := range 990 {
				time.Sleep(50 * time.Millisecond)
				if bar.Add(1); i == 500 {
					io.WriteString(Over(end), "sst: note: a line\n")
				}
			}
			time.Sleep(drawEvery)
			synctest.Wait()
			lines, most := shown(t, written(t, end, output))
			if len(lines) != 2 || lines[0] != "sst: note: a line" || !strings.HasPrefix(lines[1], want) || most >= cmp.Or(columns, 80) {
				t.Errorf("%d columns: %q, %d in use", columns, lines, most)
			}
			io.WriteString(end, "^C") // as a terminal shows it
			bar.Done()
			bar.Add(5)
			time.Sleep(10 * drawEvery)
			io.WriteString(Over(end), "the end")
			if lines, _ := shown(t, written(t, end, output)); lines[0] != "the end" {
				t.Errorf("%d columns: at the end %q", columns, lines)
			}
		})
	}
}

// A Bar adapts when the terminal's width changes.
func TestBarResized(t *testing.T) {
	end, output := openTerminal(t, 80)
	synctest.Test(t, func(t *testing.T) {
		bar := Bytes(end, 1000, "verifying")
		defer bar.Done()
		bar.Add(500)
		time.Sleep(drawEvery / 2) // to resize between two drawings
		for _, tt := range []struct {
			columns int
			want    string
		}{{40, "verifying  50 %"}, {100, "verifying  50 %  [="}, {17, " 50 %"}, {1, ""}} {
			time.Sleep(10 * drawEvery)
			written(t, end, output)
			resize(t, end, tt.columns)
			time.Sleep(10 * drawEvery)
			lines, most := shown(t, written(t, end, output))
			if !strings.HasPrefix(lines[0], tt.want) || most >= max(2, tt.columns) {
				t.Errorf("%d columns: %q, %d in use", tt.columns, lines, most)
			}
		}
	})
}

// Short work shows no Bar, and a file never gets one.
func TestNoBar(t *testing.T) {
	end, output := openTerminal(t, 80)
	synctest.Test(t, func(t *testing.T) {
		bar := Count(end, 10, "writing", "pairs")
		for range 10 {
			time.Sleep(time.Millisecond)
			bar.Add(1)
		}
		bar.Done()
		if got := written(t, end, output); got != "" {
			t.Errorf("%q", got)
		}
	})
	file, err := os.Create(t.TempDir() + "/stderr")
	errtest.NoError(t, err)
	defer file.Close()
	if bar := Bytes(Over(file), 10, "reading"); bar != nil {
		t.Error("a file has a Bar")
	}
	if bar := Bytes(io.Discard, 10, "reading"); bar != nil {
		t.Error("a writer that is not a file has a Bar")
	}
}
