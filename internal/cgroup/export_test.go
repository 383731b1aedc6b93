package cgroup

// Version2 is version 2 at a folder, whatever controllers it has.
func Version2(root string) Version { return version2{root} }

// Unlimited makes a group without limits.
func Unlimited(v Version, name string) (*Group, error) {
	return &Group{version: v, name: name}, makeFolders(v, name)
}
