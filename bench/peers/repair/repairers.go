package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/bench/peers/internal/leveldb"
	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/table"
)

// A repaired is the result of a repair.
type repaired struct {
	pairs map[string]string // in hexadecimal
	said  dbdamage.Said     // messages of sst
	text  string            // output of sst, or the error of a peer
}

// repairers runs the repairs. They may change dir, which is a copy of the database.
type repairers struct {
	cxx *leveldb.Database
	sst string // the command
}

// repairNames lists the repairs, first those by sst.
var repairNames = [...]string{"sst repair", "sst repair --all-tables", "sst repair --certain", "RepairDB", "RecoverFile"}

const (
	bySST = iota
	bySSTOfAll
	bySSTCertain
	firstPeer
)

func (r repairers) repair(name, dir string) (repaired, error) {
	switch name {
	case "RepairDB":
		return peersPairs(r.cxx.Repair(dir))
	case "RecoverFile":
		var out bytes.Buffer
		err := goleveldb.Repair(dir, &out)
		return peersPairs(out.Bytes(), err)
	}
	return r.sstRepair(dir,
		fmt.Sprint("--all-tables=", name == repairNames[bySSTOfAll]), fmt.Sprint("--certain=", name == repairNames[bySSTCertain]))
}

// peersPairs parses the pairs that a peer printed, possibly before it failed.
func peersPairs(out []byte, err error) (r repaired, _ error) {
	if err != nil {
		r.text = err.Error()
	}
	r.pairs, err = parsePairs(out)
	return r, err
}

// sstRepair has sst repair the database, and both engines judge the result.
func (r repairers) sstRepair(dir string, flags ...string) (made repaired, err error) {
	to := dir + ".repaired"
	defer os.RemoveAll(to)
	cmd := exec.Command(r.sst, append([]string{"repair", dir, "-o", to}, flags...)...)
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 3 {
		return made, fmt.Errorf("sst repair: %w: %s", err, &stderr)
	}
	made.said, made.text = dbdamage.Hear(stderr.String()), stderr.String()+out.String()
	if strings.Contains(out.String(), "was not written") {
		return made, nil
	}
	pairs, err := r.judge(to)
	if err != nil {
		return made, err
	}
	made.pairs, err = parsePairs(pairs)
	return made, err
}

// judge has both engines read the database, write to it and read it again. It returns the pairs before the write.
func (r repairers) judge(dir string) ([]byte, error) {
	ops := []history.Op{{Kind: history.Put, Key: []byte("~"), Value: []byte("new")}}
	cxxDir := dir + ".cxx"
	defer os.RemoveAll(cxxDir)
	if err := os.CopyFS(cxxDir, os.DirFS(dir)); err != nil {
		return nil, err
	}
	byCXX, err := r.cxx.Judge(cxxDir, table.BytewiseComparer.Name(), ops)
	if err != nil {
		return nil, fmt.Errorf("opening the repaired database with C++ LevelDB: %w", err)
	}
	var byGo bytes.Buffer
	if err := goleveldb.Judge(dir, table.BytewiseComparer, ops, &byGo); err != nil {
		return nil, fmt.Errorf("opening the repaired database with goleveldb: %w", err)
	}
	before, after, _ := bytes.Cut(byCXX, []byte("again\n"))
	if !bytes.Equal(byCXX, byGo.Bytes()) || !bytes.Equal(after, fmt.Appendf(slices.Clip(before), "%x\t%x\n", "~", "new")) {
		return nil, fmt.Errorf("the engines differ: C++ LevelDB reads %d bytes, goleveldb %d", len(byCXX), byGo.Len())
	}
	return before, nil
}

// parsePairs parses the output format of sst scan -f hex.
func parsePairs(out []byte) (map[string]string, error) {
	pairs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		key, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if _, twice := pairs[key]; !ok || twice {
			return nil, fmt.Errorf("line %.80q is not a pair, or repeats a key", line)
		}
		pairs[key] = value
	}
	return pairs, nil
}
