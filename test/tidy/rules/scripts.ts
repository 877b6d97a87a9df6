/** The scripts of package.json. */
import type { Finding } from "./Finding.ts"

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
