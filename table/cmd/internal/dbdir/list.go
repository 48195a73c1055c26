package dbdir

import "slices"

// ListDir lists the tables and logs of a directory. If the directory has a MANIFEST, it
// lists only the tables and logs of the MANIFEST, unless o asks for all. If it has the manifest
// of a set, or dir is that file, it lists the tables of the set.
//
// While a database is in use, files can change between reading the MANIFEST and the
// directory. So ListDir tries again if something seems to be missing, until the same is missing
// twice.
func ListDir(dir string, o ListOptions) (Dir, error) {
	return listUntilSame(func() (Dir, error) { return listDir(dir, o) })
}

// maxTries is how often a directory is listed.
const maxTries = 10

// listUntilSame calls list until nothing is missing or damaged, or the same as the time before.
func listUntilSame(list func() (Dir, error)) (d Dir, err error) {
	var before []string
	for range maxTries {
		d, err = list()
		lacks := d.lacks()
		if err != nil || lacks == nil || slices.Equal(lacks, before) {
			break
		}
		before = lacks
	}
	return d, err
}

// lacks names what is missing or damaged.
func (d *Dir) lacks() (all []string) {
	for _, err := range d.Damage {
		all = append(all, err.Error())
	}
	for _, l := range d.Missing {
		all = append(all, l.Path)
	}
	return all
}
