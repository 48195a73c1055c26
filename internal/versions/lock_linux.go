package versions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LockHolder returns the id of the process that has the database open, or 0. Such a process holds a lock on the
// file LOCK. LockHolder finds the process in /proc/locks, without locking anything.
func LockHolder(dir string) (pid int) {
	var info syscall.Stat_t
	if syscall.Stat(filepath.Join(dir, "LOCK"), &info) != nil {
		return 0
	}
	locks, _ := os.ReadFile("/proc/locks") // without it, no process is found
	file := fileID(uint64(info.Dev), info.Ino)
	for line := range strings.Lines(string(locks)) {
		// For example "1: POSIX  ADVISORY  WRITE 708 fe:00:3932 0 EOF".
		f := strings.Fields(line)
		if len(f) >= 8 && f[3] == "WRITE" && f[5] == file {
			fmt.Sscan(f[4], &pid) // 0 if it is not a number
			return pid
		}
	}
	return 0
}

// fileID formats device and inode numbers from stat as in /proc/locks. In the device number, the bits of the major
// and the minor number are mixed (Linux, include/linux/kdev_t.h, new_encode_dev).
func fileID(device, inode uint64) string {
	return fmt.Sprintf("%02x:%02x:%d", device>>8&0xfff, device&0xff|device>>12&^0xff, inode)
}
