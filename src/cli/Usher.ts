/** The command line: its commands, and how it runs the requested one. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Runtime } from "effect"
import { Command } from "effect/cli"
import { release } from "../domain/values/Release.ts"
import * as Archive from "./archive/Archive.ts"
import * as Backup from "./archive/Backup.ts"
import * as Restore from "./archive/Restore.ts"
import * as Resume from "./archive/Resume.ts"
import * as Keys from "./Keys.ts"
import * as Demo from "./Demo.ts"
import * as Erasures from "./archive/Erasures.ts"
import * as Gate from "./Gate.ts"
import * as Load from "./Load.ts"
import * as Mechanisms from "./Mechanisms.ts"
import * as Migrate from "./Migrate.ts"
import * as Nodes from "./Nodes.ts"
import * as Organizations from "./Organizations.ts"
import * as Rehearse from "./Rehearse.ts"
import * as Replay from "./Replay.ts"
import * as ServerRandom from "../store/coordination/ServerRandom.ts"
import * as Presentation from "./runtime/Presentation.ts"
import * as Secrets from "./Secrets.ts"
import * as Seed from "./Seed.ts"
import * as Serve from "./Serve.ts"
import * as SigningKeys from "./SigningKeys.ts"
import * as DatabaseUpgrade from "./upgrade/DatabaseUpgrade.ts"
import * as Upgrade from "./upgrade/Upgrade.ts"
import * as VerifyDraw from "./VerifyDraw.ts"
import * as VerifyJournal from "./VerifyJournal.ts"
import * as Webhooks from "./Webhooks.ts"

const usher = Command.make("usher").pipe(
  Command.withDescription("The engine behind high-demand product drops"),
  Command.withSubcommands([
    Serve.command,
    Demo.demo,
    Migrate.command,
    Organizations.command,
    Seed.command,
    Keys.command,
    SigningKeys.command,
    Secrets.command,
    Mechanisms.command,
    Nodes.command,
    Upgrade.command,
    DatabaseUpgrade.command,
    Webhooks.command,
    Load.command,
    Gate.command,
    VerifyDraw.command,
    VerifyJournal.command,
    Rehearse.command,
    Replay.command,
    Backup.command,
    Restore.command,
    Resume.command,
    Archive.command,
    Erasures.command
  ])
)

/** The command that the process's arguments request. */
export const program = Command.run(usher, { version: release.version }).pipe(
  Effect.tapErrorTag(["StartRefused", "DemoFailed", "ProofRefused", "JournalDiffers", "LoadFailed"], (error) =>
    Presentation.explain(error.message)
  ),
  Effect.provide(ServerRandom.layer),
  Effect.provide(Layer.mergeAll(NodeServices.layer, NodeCrypto.layer, Presentation.layer))
)

/**
 * Runs the command, and ends the process with its exit code. Each command handles signals itself (`Signals.ts`).
 * `serve` stops gracefully with code 0. Any other command ends with the code of an interruption.
 */
export const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  fiber.addObserver((exit) => teardown(exit, (code) => process.exit(code)))
})
