/** Prints help to standard output, and errors with a hint to standard error. */
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

/** The presentation of the command line. */
export const layer = Layer.mergeAll(
  CliOutput.layerPresenter(presenter),
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
)

/** Prints why a command failed. */
export const explain = (message: string): Effect.Effect<void> => Console.error(`usher: ${message}`)
