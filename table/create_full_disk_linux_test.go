package table_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

func init() { children["full disk"] = fillDisk }

// noMount is the output of a child that may not mount a disk.
const noMount = "no mount"

// fillDisk writes larger and larger tables to a disk of 64 KiB, and checks that those that do not fit leave no file.
func fillDisk(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		fmt.Print(noMount)
		return nil
	}
	full := 0
	name := filepath.Join(dir, "a.ldb")
	for size := 1000; size < 1_000_000; size += size / 2 {
		value := make([]byte, size)
		for i := range value {
			value[i] = byte(i * i >> 8) // which Snappy hardly compresses
		}
		err := writeFile(name, []workload.Pair{{Key: []byte("a"), Value: value}, {Key: []byte("b"), Value: value}})
		if err == nil {
			err = errors.Join(verifyFile(name), os.Remove(name))
		} else if errors.Is(err, syscall.ENOSPC) {
			full++
			err = nil
		}
		left, readErr := os.ReadDir(dir)
		if err = errors.Join(err, readErr); err != nil || len(left) > 0 {
			return fmt.Errorf("value of %d bytes: %v; left: %v", size, err, left)
		}
	}
	if full == 0 {
		return errors.New("the disk did not get full")
	}
	return nil
}

// If the disk gets full, the caller gets ENOSPC, and no file is left.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	cmd := tabletest.Self(t, childEnv+"=full disk:"+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, // where it may mount
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if len(out) == 0 && err != nil || string(out) == noMount {
		t.Skipf("no disk to fill: %v", err)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// Opening a pipe without a writer would block forever.
func TestOpenOfAPipe(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Skip(err)
	}
	if r, err := table.Open(name, nil); err == nil || r != nil {
		t.Errorf("Open = %v, %v; want an error", r, err)
	}
}
