/** Loads modules that only one command needs when it runs, so every other command starts faster. */
import { Effect } from "effect"
import { flushCompileCache } from "node:module"

/** Loads a module and runs `use` with it. */
export const withModule = <Module, A, E, R>(
  load: () => Promise<Module>,
  use: (module: Module) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.promise(load).pipe(
    // Node writes its compile cache only on a clean exit, and a server may be killed.
    Effect.tap(() => Effect.sync(flushCompileCache)),
    Effect.flatMap(use)
  )
