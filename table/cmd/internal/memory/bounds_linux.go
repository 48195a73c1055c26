package memory

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// spareAddresses is the address space that Go's runtime takes beyond allocations: it reserves 64 MiB at a time,
// and some for bookkeeping and threads.
const spareAddresses = 96 << 20

// systemBounds returns the limits of the machine, the control groups and the process.
func systemBounds() []bound {
	all := append(cgroupBounds("/proc/self/cgroup", "/sys/fs/cgroup"), addressBounds()...)
	if n, err := physical(); err == nil {
		all = append(all, bound{n, "the memory of this machine"})
	}
	return all
}

// physical returns the size of the machine's memory.
func physical() (uint64, error) {
	var info unix.Sysinfo_t
	err := unix.Sysinfo(&info)
	return uint64(info.Totalram) * uint64(info.Unit), err
}

// addressBounds returns the address space that RLIMIT_AS leaves.
func addressBounds() []bound {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur > math.MaxInt64 {
		return nil
	}
	statm, err := os.ReadFile("/proc/self/statm")
	var pages uint64
	if _, scanErr := fmt.Sscan(string(statm), &pages); err != nil || scanErr != nil {
		return nil
	}
	left := uint64(0)
	if used := pages*uint64(os.Getpagesize()) + spareAddresses; used < limit.Cur {
		left = limit.Cur - used
	}
	return []bound{{left, "left by ulimit -v " + strconv.FormatUint(limit.Cur>>10, 10)}}
}

// cgroupBounds returns the limits of the process's control groups, of versions 1 and 2. list is the file that
// names them, and root is their mount point.
func cgroupBounds(list, root string) []bound {
	groups, err := os.ReadFile(list)
	if err != nil {
		return nil
	}
	var all []bound
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch {
		case controllers == "":
			all = append(all, limitsAbove(root, group, "memory.max")...)
			all = append(all, limitsAbove(path.Join(root, "unified"), group, "memory.max")...)
		case strings.Contains(","+controllers+",", ",memory,"):
			all = append(all, limitsAbove(path.Join(root, "memory"), group, "memory.limit_in_bytes")...)
		}
	}
	return all
}

// limitsAbove returns the limits of a group and its parents, as far as they are mounted: a container can see its
// own group as the root.
func limitsAbove(root, group, file string) []bound {
	var all []bound
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		text, err := os.ReadFile(path.Join(root, group, file))
		if n, parseErr := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 64); err == nil && parseErr == nil {
			all = append(all, bound{n, "the control group's " + file})
		}
		if group == "/" {
			return all
		}
	}
}
