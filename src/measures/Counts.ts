/** Numbers by name, such as refusals by their code. The names come from the code, so they are few. */
export class Counts {
  private readonly numbers: Map<string, number>

  /** Creates counts in which these names begin at 0. A name that comes later begins with its first addition. */
  constructor(names: ReadonlyArray<string> = []) {
    this.numbers = new Map(names.map((name) => [name, 0]))
  }

  add(name: string): void {
    this.numbers.set(name, (this.numbers.get(name) ?? 0) + 1)
  }

  entries(): ReadonlyArray<readonly [string, number]> {
    return [...this.numbers]
  }
}
