/** The processor time of a call, for what is too short to be timed alone. */

/** Prints the processor time of one call, in microseconds: the median and the best of seven rounds. */
export function perCall(name: string, calls: number, call: (index: number) => void): void {
  for (let index = 0; index < calls; index++) call(index)
  const micros = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage()
    for (let index = 0; index < calls; index++) call(index)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / calls
  }).toSorted((a, b) => a - b)
  console.log(`${name.padEnd(44)} ${micros[3]!.toFixed(3)} µs (best ${micros[0]!.toFixed(3)})`)
}
