package scheduler

import "dodoor/internal/cluster"

// workerID stands for a worker's name and class; 0 is none. They keep their number while the replica runs.
type workerID uint32

// knownWorker is what a task keeps of a worker.
type knownWorker struct {
	name  string
	class cluster.ClassID
}

// workerNames numbers workers, so that very many tasks can name theirs.
type workerNames struct {
	ids     map[knownWorker]workerID
	workers []knownWorker
}

func newWorkerNames() workerNames {
	return workerNames{ids: map[knownWorker]workerID{}, workers: make([]knownWorker, 1)}
}

func (w *workerNames) id(name string, class cluster.ClassID) workerID {
	worker := knownWorker{name, class}
	id, ok := w.ids[worker]
	if !ok {
		id = workerID(len(w.workers))
		w.ids[worker], w.workers = id, append(w.workers, worker)
	}
	return id
}

func (w *workerNames) name(id workerID) string { return w.workers[id].name }

func (w *workerNames) class(id workerID) cluster.ClassID { return w.workers[id].class }
