/**
 * `usher demo`: plays a whole drop against a real server, which is killed in the middle, and proves that no
 * acknowledged request is lost. Ends in well under a minute, with code 0 only if every check holds.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { DemoFailed } from "./demo/DemoFailed.ts"
import { withModule } from "./runtime/LazyModule.ts"
import { interruptible } from "./runtime/Signals.ts"

const consumersFlag = Flag.Int("consumers").pipe(
  Flag.withDescription("How many consumers come to the drop (20 to 20000)"),
  Flag.filter(
    (count) => count >= 20 && count <= 20_000,
    () => "a whole number from 20 to 20000"
  ),
  Flag.withDefault(2_000)
)

const stayFlag = Flag.Boolean("stay").pipe(
  Flag.withDescription("Keep serving the rooms and the dashboard after the checks, until Ctrl+C"),
  Flag.withDefault(false)
)

const gateFlag = Flag.Boolean("gate").pipe(
  Flag.withDescription("Put a gate in front of a sample shop instead: behind nginx if it is installed"),
  Flag.withDefault(false)
)

const flags = { consumers: consumersFlag, stay: stayFlag, gate: gateFlag }

export const demo = Command.make("demo", flags, ({ consumers, stay, gate }) =>
  (gate
    ? withModule(
        () => import("./demo/gate/GateDemo.ts"),
        ({ play }) => play(stay)
      )
    : withModule(
        () => import("./demo/Drop.ts"),
        ({ play }) => play(consumers, stay)
      )
  ).pipe(
    Effect.mapError(({ message }) => new DemoFailed({ message })),
    interruptible
  )
).pipe(Command.withDescription("Play a drop with 2,000 consumers, kill the server in the middle, and check the result"))
