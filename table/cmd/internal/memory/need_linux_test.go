package memory

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
)

// The limits of all control groups of a process and their parents apply, of versions 1 and 2, as far as they are
// mounted.
func TestControlGroups(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		list  string
		files map[string]string
		want  []uint64
	}{
		"version 2":       {"0::/a/b\n", map[string]string{"a/b/memory.max": "300\n", "a/memory.max": "200\n"}, []uint64{300, 200}},
		"no limit":        {"0::/a\n", map[string]string{"a/memory.max": "max\n"}, nil},
		"a container's":   {"0::/\n", map[string]string{"memory.max": "100\n"}, []uint64{100}},
		"version 1":       {"5:cpu:/x\n4:memory:/a\n0::/\n", map[string]string{"memory/a/memory.limit_in_bytes": "7\n", "memory/memory.limit_in_bytes": "8\n"}, []uint64{7, 8}},
		"with others":     {"4:cpu,memory:/a\n", map[string]string{"memory/a/memory.limit_in_bytes": "7\n"}, []uint64{7}},
		"not its path":    {"4:memory:/docker/a\n", map[string]string{"memory/memory.limit_in_bytes": "9\n"}, []uint64{9}},
		"both":            {"0::/a\n", map[string]string{"unified/a/memory.max": "6\n"}, []uint64{6}},
		"outside":         {"0::/../../a\n", map[string]string{"a/memory.max": "5\n"}, []uint64{5}},
		"damaged":         {"\n:\nmemory\n0::/a\n", map[string]string{"a/memory.max": "-1\n"}, nil},
		"of other things": {"4:memoryx:/a\n", map[string]string{"memory/a/memory.limit_in_bytes": "7\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, list := t.TempDir(), filepath.Join(t.TempDir(), "cgroup")
			tt.files[list] = tt.list
			for file, contents := range tt.files {
				if file != list {
					file = filepath.Join(root, file)
				}
				errtest.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(contents), 0o666)))
			}
			var got []uint64
			for _, b := range cgroupBounds(list, root) {
				got = append(got, b.bytes)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

// Check reports more memory than the machine has, and accepts 1 byte.
func TestCheckKnowsTheMachine(t *testing.T) {
	t.Parallel()
	_, err := physical()
	errtest.NoError(t, err)
	err = Check("it", 1<<62, "do something")
	if short := (*ShortError)(nil); !errors.As(err, &short) || short.Need != 1<<62 || short.Limit == "" {
		t.Errorf("Check of 4 EiB = %v", err)
	}
	errtest.NoError(t, Check("it", 1, "do something"))
}
