package versions

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LockHolder returns the id of the process that has the database open, or 0. Such a process
// holds a lock on the file LOCK. LockHolder looks it up in /proc/locks, without locking
// anything.
func LockHolder(dir string) (pid int) {
	var info syscall.Stat_t
	if syscall.Stat(filepath.Join(dir, "LOCK"), &info) != nil {
		return 0
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer locks.Close() // it was only read
	inode := fmt.Sprintf(":%d", info.Ino)
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// Such as "1: POSIX  ADVISORY  WRITE 708 fe:00:3932 0 EOF".
		f := strings.Fields(lines.Text())
		if len(f) < 8 || f[3] != "WRITE" || !strings.HasSuffix(f[5], inode) {
			continue
		}
		var major, minor uint64
		if _, err := fmt.Sscanf(f[5], "%x:%x:", &major, &minor); err != nil || makeDevice(major, minor) != uint64(info.Dev) {
			continue
		}
		fmt.Sscan(f[4], &pid) // 0 if it is not a number
		return pid
	}
	return 0
}

// makeDevice returns a device number as stat does (Linux, include/linux/kdev_t.h,
// new_encode_dev).
func makeDevice(major, minor uint64) uint64 {
	return minor&0xff | major&0xfff<<8 | minor&^0xff<<12
}
