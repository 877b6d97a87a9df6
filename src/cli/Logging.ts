/**
 * Logs go to standard error, in the format and from the level that the settings name; standard output belongs to what a
 * command was asked for.
 */
import { Effect, Layer, Logger, References } from "effect"
import { Settings } from "../Settings.ts"

/** Sets up logging for everything it is provided to. */
export const layer = Layer.unwrap(
  Effect.map(Settings, (settings) =>
    Layer.mergeAll(
      Logger.layer([loggers[settings.logFormat]]),
      Layer.succeed(Logger.LogToStderr, true),
      Layer.succeed(References.MinimumLogLevel, settings.logLevel)
    )
  )
)

const loggers = {
  pretty: Logger.consolePretty({ mode: "tty", colors: process.stderr.isTTY }),
  logfmt: Logger.withConsoleError(Logger.formatLogFmt),
  json: Logger.withConsoleError(Logger.formatJson)
}
