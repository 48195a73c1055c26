package byprefix

import "container/heap"

// largest keeps the largest groups, as a heap with the smallest of them at the top.
type largest struct {
	most   int
	groups []Group
}

// add adds a group. If there are too many then, it drops the smallest one.
func (l *largest) add(g Group) (dropped Group, full bool) {
	if len(l.groups) < l.most {
		heap.Push(l, g)
		return Group{}, false
	}
	if compareGroups(g, l.groups[0]) > 0 {
		return g, true
	}
	dropped, l.groups[0] = l.groups[0], g
	heap.Fix(l, 0)
	return dropped, true
}

// Len, Less, Swap, Push and Pop are for package heap.

func (l *largest) Len() int           { return len(l.groups) }
func (l *largest) Less(i, j int) bool { return compareGroups(l.groups[i], l.groups[j]) > 0 }
func (l *largest) Swap(i, j int)      { l.groups[i], l.groups[j] = l.groups[j], l.groups[i] }
func (l *largest) Push(g any)         { l.groups = append(l.groups, g.(Group)) }

func (l *largest) Pop() any {
	last := len(l.groups) - 1
	g := l.groups[last]
	l.groups = l.groups[:last]
	return g
}
