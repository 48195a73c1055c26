package seen

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// saving is set in test processes to the maximum size of the files that they may write.
const saving = "SEEN_TEST_SAVING"

// If any part of a state cannot be written, Save returns an error, and only the old state remains.
func TestSaveIsCutShort(t *testing.T) {
	t.Parallel()
	if os.Getenv(saving) != "" {
		saveCutShort(t)
		return
	}
	self, err := os.Executable()
	noError(t, err)
	s := open(t, filepath.Join(t.TempDir(), "s"), 5000, 0.01)
	noError(t, errors.Join(s.Save(), s.Close()))
	size := int(s.filter.Size())
	for _, most := range []int{0, 35, 36, 63, 64, size - 24, size - 20, size - 4, size - 1, size} {
		cmd := exec.Command(self, "-test.run=^TestSaveIsCutShort$")
		cmd.Env = append(os.Environ(), saving+"="+strconv.Itoa(most), "SEEN_TEST_WHOLE="+strconv.Itoa(size))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("at most %d bytes: %v, %.500s", most, err, out)
		}
	}
}

// saveCutShort saves a state twice, the second time with a file size limit.
func saveCutShort(t *testing.T) {
	most, err := strconv.Atoi(os.Getenv(saving))
	noError(t, err)
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	s := open(t, path, 5000, 0.01)
	defer s.Close()
	noError(t, s.Save())
	before := files(t, dir)
	s.Add([]byte("a line"))
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	noError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limited := limit
	limited.Cur = uint64(most)
	noError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limited))
	saveErr := s.Save()
	noError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	if whole := os.Getenv("SEEN_TEST_WHOLE") == strconv.Itoa(most); whole {
		if saveErr != nil || !s.saved {
			t.Errorf("Save = %v", saveErr)
		}
		return
	}
	if !errors.Is(saveErr, syscall.EFBIG) || s.saved {
		t.Errorf("Save = %v, saved = %t; want %v", saveErr, s.saved, syscall.EFBIG)
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}
