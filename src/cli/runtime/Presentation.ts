/**
 * How the command line answers: help on standard output; what is wrong, with the way to help, on standard error.
 */
import { Console, Effect, Layer } from "effect"
import { CliConfig, CliOutput, GlobalFlag } from "effect/cli"

const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Console.error(
          [
            ...event.errors.map((error) => `usher: ${error.message}`),
            `Run \`${event.commandPath.join(" ")} --help\` to see what is possible.`
          ].join("\n")
        )
      : CliOutput.defaultPresenter.present(event)
}

/** Presents what the command line has to say. */
export const layer = Layer.mergeAll(
  CliOutput.layerPresenter(presenter),
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
)

/** Tells why a command could not be carried out. */
export const explain = (message: string): Effect.Effect<void> => Console.error(`usher: ${message}`)
