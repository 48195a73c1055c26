package workload

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// W2 returns the source tree of the Go distribution that runs this program. The keys are the slash-separated paths
// of the files in src, and the values are their contents. The absent keys are the paths followed by a ~.
func W2() (Set, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return Set{}, fmt.Errorf("workload: go env GOROOT: %w", err)
	}
	return tree(filepath.Join(strings.TrimSpace(string(root)), "src"))
}

// tree reads all regular files in dir and its subdirectories.
func tree(dir string) (Set, error) {
	var s Set
	src := os.DirFS(dir)
	files := map[string][]byte{}
	err := fs.WalkDir(src, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files[path], err = fs.ReadFile(src, path)
		s.Keys = append(s.Keys, []byte(path))
		return err
	})
	if err != nil {
		return Set{}, fmt.Errorf("workload: %w", err)
	}
	slices.SortFunc(s.Keys, bytes.Compare)
	for _, k := range s.Keys {
		s.Values = append(s.Values, files[string(k)])
		s.Absent = append(s.Absent, append(bytes.Clone(k), '~'))
	}
	rng := rand.New(rand.NewPCG(2, 2))
	rng.Shuffle(len(s.Absent), func(i, j int) { s.Absent[i], s.Absent[j] = s.Absent[j], s.Absent[i] })
	s.Hits = rng.Perm(len(s.Keys))
	return s, nil
}
