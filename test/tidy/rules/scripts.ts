/** The scripts of package.json. */
import type { Finding } from "./Finding.ts"
import type { TextFile } from "./Tree.ts"

/** The part of package.json that names them. */
export interface Scripts {
  readonly scripts: { readonly [name: string]: string }
}

/** Scripts that run for long. A user may send npm a signal to end them. */
const long = /^(start|demo|usher|test.*|bench.*|prove.*)$/

/**
 * Finds long scripts that npm runs in a shell. The shell would end on a signal, and the program would run on without
 * it.
 */
export function scriptsBehindShell({ scripts }: Scripts): ReadonlyArray<Finding> {
  return Object.entries(scripts)
    .filter(([name, command]) => long.test(name) && !command.startsWith("exec "))
    .map(([name]) => ({
      path: "package.json",
      line: 1,
      problem: `${name} runs behind a shell, which does not pass signals on`,
      fix: "Begin it with exec."
    }))
}

/**
 * Finds programs among the long proofs that no script runs. A file whose name begins with a capital is not a program.
 */
export function programsWithoutScript({ scripts }: Scripts, tree: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  const commands = Object.values(scripts)
  return tree
    .filter(({ path }) => /^test\/scripts\/[a-z]\w*\.ts$/.test(path))
    .filter(({ path }) => !commands.some((command) => command.split(" ").includes(path)))
    .map(({ path }) => ({ path, line: 1, problem: "is run by no script", fix: "Add a prove: script to package.json." }))
}
