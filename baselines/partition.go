package baselines

// NewPartition returns the policy that uses the nodes at home here and no others. Under even load it is as
// good as one that knows everything; it collapses when the load is not even, and exists to show why the
// foreign nodes of dodoor+ are needed.
func NewPartition() (*DodoorPlus, error) {
	cfg := DefaultDodoorPlus()
	cfg.Foreign, cfg.Adaptive = 0, false
	return NewDodoorPlus(cfg)
}
