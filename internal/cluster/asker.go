package cluster

// Asker is on whose behalf somebody asks for tasks and jobs, or does something to them. The zero value sees what nobody in
// particular submitted.
type Asker struct {
	User string // by whose name what they submit goes; empty: nobody in particular
	All  bool   // an operator, a service, or anybody where nobody proves who they are: sees everybody's
}

// Everybody is an asker who sees all there is.
var Everybody = Asker{All: true}

// Sees reports whether what a user has submitted is there for the asker. What is not is answered for like what never was.
func (a Asker) Sees(user string) bool { return a.All || a.User == user }
