package scripttest

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sievetable/sievetable/internal/errtest"
)

// Link returns a link to the test binary, which runs as program under that name: see testscript.Main.
func Link(t *testing.T, program string) (path string) {
	t.Helper()
	self, err := os.Executable()
	errtest.NoError(t, err)
	path = filepath.Join(t.TempDir(), program)
	errtest.NoError(t, os.Symlink(self, path))
	return path
}

// Pausing returns a reader of in that pauses once, halfway.
func Pausing(in string, pause time.Duration) io.Reader {
	return &pausingReader{strings.NewReader(in), pause}
}

type pausingReader struct {
	in    *strings.Reader
	pause time.Duration
}

func (p *pausingReader) Read(b []byte) (int, error) {
	half := p.in.Len() - int(p.in.Size()/2)
	if half <= 0 {
		time.Sleep(p.pause)
		p.pause, half = 0, len(b)
	}
	return p.in.Read(b[:min(half, len(b))])
}
