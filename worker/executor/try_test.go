package executor
import ("testing";"context";"fmt";"dodoor/worker";"dodoor/internal/cluster")
func TestTry(t *testing.T){
 for _,c:=range []struct{mc,mem,ms int64}{{500,64,2000},{1000,64,1000},{1000,512,1000},{2000,100,1000},{250,64,2000},{100,20,1000},{1500,256,600},{0,256,500},{500,0,400},{0,0,300},{500,1024,1000}} {
  for range 3 {
  r:=StressNG{}.Run(context.Background(),worker.Start{Shape:cluster.Shape{Demand:cluster.Resources{c.mc,c.mem},Duration:c.ms}})
  fmt.Printf("%v want %.3f got %.3f ratio %.2f peak %d %v %s\n",c,float64(c.mc*c.ms)/1e6,r.CPU.Seconds(),r.CPU.Seconds()*1e6/float64(c.mc*c.ms),r.PeakMemory,r.Outcome,r.Reason)
 }}
}
