/**
 * Logs to standard error, in the format and from the level of the settings. Standard output is reserved for a command's
 * result.
 *
 * A log entry may contain text from callers and other servers, in an error message or an annotation. `printable`
 * escapes its control characters, and is the only place that does. So no text can start its own entry or control a
 * terminal.
 */
import { Cause, Effect, Formatter, Layer, Logger, References } from "effect"
import { apiVersion } from "../../api/OpenApi.ts"
import { Settings } from "../../settings/Settings.ts"

/** Configures logging for everything the layer is provided to. */
export const layer = Layer.unwrap(
  Effect.map(Settings, (settings) =>
    Layer.mergeAll(
      Logger.layer([Logger.withConsoleError(formats(settings.nodeName)[settings.logFormat])]),
      Layer.succeed(References.MinimumLogLevel, settings.logLevel)
    )
  )
)

/** Control characters, and characters that break lines or change the writing direction. */
const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** Escapes unprintable characters as JSON does, so that in JSON the text keeps its value. */
const printable = (text: string): string =>
  text.replaceAll(unprintable, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1)
    return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}` : escaped
  })

/** Formats an entry as one or more lines. All but the first are indented. */
const pretty = Logger.make<unknown, string>(({ cause, date, fiber, logLevel, message }) => {
  const [first = "", ...others] = Array.isArray(message) ? message : [message]
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  const head = `${white(`[${timeOf(date)}]`)} ${levelColors[logLevel](logLevel.toUpperCase())} (#${fiber.id}):`
  const lines = [
    ...Cause.prettyErrors(cause).flatMap(linesOf),
    ...others.flatMap((value) => (value instanceof Error ? linesOf(value) : shown(value))),
    ...annotations.map(([name, value]) => `${bold(`${printable(name)}:`)} ${shown(value)}`)
  ]
  return [`${head} ${boldCyan(shown(first))}`, ...lines.map((line) => `  ${line}`)].join("\n")
})

/** A line of JSON says at its top what happened (`event`) and where, for programs. */
const formats = (node: string) => ({
  pretty,
  logfmt: Logger.map(Logger.formatLogFmt, printable),
  json: Logger.map(Logger.formatStructured, ({ annotations: { event, ...annotations }, ...entry }) =>
    printable(
      Formatter.formatJson({
        ...entry,
        ...(event !== undefined && { event }),
        annotations,
        service: "usher",
        version: apiVersion,
        node
      })
    )
  )
})

const shown = (value: unknown): string => printable(typeof value === "string" ? value : Formatter.format(value))

/** Formats an error with its stack and its cause. */
function linesOf(error: Error): ReadonlyArray<string> {
  const head = `${error.name}: ${error.message}`
  const stack = error.stack ?? ""
  const frames = (stack.startsWith(head) ? stack.slice(head.length) : stack).split("\n").slice(1)
  const [caused, ...causedAt] = error.cause instanceof Error ? linesOf(error.cause) : []
  return [
    printable(head),
    ...frames.map((frame) => printable(frame)),
    ...(caused === undefined ? [] : [`  [cause]: ${caused}`, ...causedAt.map((line) => `  ${line}`)])
  ]
}

const timeOf = (date: Date): string => {
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) =>
    `${part}`.padStart(2, "0")
  )
  return `${hours}:${minutes}:${seconds}.${`${date.getMilliseconds()}`.padStart(3, "0")}`
}

const color =
  (...codes: ReadonlyArray<number>) =>
  (text: string): string =>
    process.stderr.isTTY ? `${codes.map((code) => `\u001b[${code}m`).join("")}${text}\u001b[0m` : text

const white = color(37)
const bold = color(1, 37)
const boldCyan = color(1, 36)
const levelColors = {
  All: color(),
  None: color(),
  Trace: color(90),
  Debug: color(34),
  Info: color(32),
  Warn: color(33),
  Error: color(31),
  Fatal: color(101, 30)
}
