package set

// TryMayContain is MayContain of what is in memory: it reads nothing, opens no table, and does not wait
// for any. known says whether MayContain would answer the same. If it is false, so that the key's
// table is not open, the Set is closed, or filters of a layer's removals do not rule the key out, may is
// true. So may = false is always certain.
//
// With Mapped, the system may have to read parts of filters into its page cache.
func (s *Set) TryMayContain(key []byte) (may, known bool) {
	for {
		v := s.current.Load()
		if v == nil {
			return true, false
		}
		may, known = v.tryMayContain(key)
		if known || s.current.Load() == v { // else the tables of v may have ended
			return may, known
		}
	}
}

// tryMayContain asks one layer after the other, the newest first. Whether a key was removed does not
// matter if no older layer has it.
func (v *version) tryMayContain(key []byte) (may, known bool) {
	known = true
	for i := range v.layers {
		l := &v.layers[i]
		if may, open := l.tables.tryMayContain(key); may {
			return true, known && open
		}
		if mayBeRemoved, _ := l.removals.tryMayContain(key); mayBeRemoved {
			known = false
		}
	}
	return false, true
}

// tryMayContain asks the filters of the key's table, if that is open. Else may is true.
func (r *run) tryMayContain(key []byte) (may, open bool) {
	i := r.find(key)
	if i < 0 {
		return false, true
	}
	l, open := r.members[i].beginLookup()
	if !open {
		return true, false
	}
	defer l.end()
	return l.reader.MayContain(key), true
}
