/**
 * The kinds of setting: number, text, URL and so on. Each has its shape in words, its validation and its value.
 * `Settings.ts` declares every setting with these.
 */
import { Option, Redacted, Result } from "effect"
import { IpNetwork } from "effect/net"

/** One setting as the documentation shows it. */
export interface Setting {
  /** The environment variable. */
  readonly variable: string
  /** The unit or type of the value: seconds, TCP port, URL, … */
  readonly unit: string
  /** The value that applies when the variable is absent or empty. */
  readonly default: string
  /** The accepted values, in words. */
  readonly shape: string
  readonly meaning: string
  /** Whether the value may contain a password. Such values are never printed. */
  readonly secret: boolean
  /** True for a switch of the project itself, which the table for operators leaves out. */
  readonly isInternal?: boolean
}

/** A setting and the conversion from its text. */
export interface Definition<A> extends Setting {
  /** Returns the value, or undefined if the text does not match the shape. */
  readonly parse: (text: string) => A | undefined
  /** The value when the variable is absent or empty. */
  readonly fallback: A
}

/** A whole number within bounds. */
export function whole(
  variable: string,
  options: {
    readonly unit: string
    readonly fallback: number
    readonly least: number
    readonly most: number
    readonly meaning: string
  }
): Definition<number> {
  return {
    variable,
    unit: options.unit,
    default: `${options.fallback}`,
    shape: `a whole number from ${options.least} to ${options.most}`,
    meaning: options.meaning,
    secret: false,
    fallback: options.fallback,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= options.least && value <= options.most ? value : undefined
    }
  }
}

/** A share of a whole, from `least` to 1. */
export function fraction(
  variable: string,
  options: { readonly fallback: number; readonly least: number; readonly meaning: string }
): Definition<number> {
  return {
    variable,
    unit: "share",
    default: `${options.fallback}`,
    shape: `a number from ${options.least} to 1`,
    meaning: options.meaning,
    secret: false,
    fallback: options.fallback,
    parse: (text) => {
      const value = /^\d(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN
      return value >= options.least && value <= 1 ? value : undefined
    }
  }
}

/** A port to listen on. */
export function port(variable: string, fallback: number, meaning: string): Definition<number> {
  return whole(variable, { unit: "TCP port", fallback, least: 0, most: 65_535, meaning })
}

/** Text that matches a pattern. */
export function text(
  variable: string,
  options: {
    readonly unit: string
    readonly shape: string
    readonly pattern: RegExp
    readonly fallback: string
    readonly default?: string
    readonly meaning: string
  }
): Definition<string> {
  return {
    variable,
    unit: options.unit,
    default: options.default ?? `\`${options.fallback}\``,
    shape: options.shape,
    meaning: options.meaning,
    secret: false,
    fallback: options.fallback,
    parse: (value) => (options.pattern.test(value) ? value : undefined)
  }
}

/** A URL of one of the schemes, which may hold a password. */
export function url(
  variable: string,
  options: Absent & { readonly schemes: ReadonlyArray<string>; readonly example: string }
): Definition<Option.Option<Redacted.Redacted>> {
  return {
    ...absent(variable, "URL", `a URL like \`${options.example}\``, options),
    secret: true,
    fallback: Option.none(),
    parse: (value) => {
      const parsed = URL.parse(value)
      return parsed !== null && options.schemes.includes(parsed.protocol) && value.includes("://")
        ? Option.some(Redacted.make(value, { label: variable }))
        : undefined
    }
  }
}

/** URLs of interchangeable HTTP services. None may contain a password. Trailing slashes are removed. */
export function relays(
  variable: string,
  options: { readonly fallback: ReadonlyArray<string>; readonly meaning: string }
): Definition<ReadonlyArray<string>> {
  return {
    variable,
    unit: "URLs",
    default: options.fallback.map((address) => `\`${address}\``).join(", "),
    shape: "`https:` or `http:` URLs without user and password, with commas between them",
    meaning: options.meaning,
    secret: true,
    fallback: options.fallback,
    parse: (value) => {
      const all = value.split(",").map((text) => text.trim().replace(/(?<!\/)\/+$/, ""))
      return all.every((text) => /^https?:\/\/[^\s/?#@]+(\/[^\s?#@]*)?$/.test(text) && URL.canParse(text))
        ? all
        : undefined
    }
  }
}

/** The texts of a setting that has no value by default. */
export interface Absent {
  readonly whenAbsent: string
  readonly meaning: string
}

/** Describes a setting that has no value by default. */
export const absent = (variable: string, unit: string, shape: string, { whenAbsent, meaning }: Absent) => ({
  variable,
  unit,
  default: `none: ${whenAbsent}`,
  shape,
  meaning
})

/** The path of a file; undefined if absent. */
export function file(variable: string, options: Absent): Definition<string | undefined> {
  return {
    ...absent(variable, "file", "a path", options),
    secret: false,
    fallback: undefined,
    parse: (value) => (/^\P{Cc}+$/u.test(value) ? value : undefined)
  }
}

/** IP addresses and networks. */
export function networks(variable: string, options: Absent): Definition<ReadonlyArray<IpNetwork.IpNetwork>> {
  const shape = "IP addresses or networks like `10.0.0.0/8`, with commas between them"
  return {
    ...absent(variable, "networks", shape, options),
    secret: false,
    fallback: [],
    parse: (value) => {
      const all = value.split(",").map((text) => text.trim())
      const parsed = all.map((text) =>
        IpNetwork.fromString(text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}`)
      )
      return Option.getOrUndefined(Option.all(parsed.map(Result.getSuccess)))
    }
  }
}

/** Text that is never printed. */
export function secret(
  variable: string,
  options: { readonly meaning: string }
): Definition<Option.Option<Redacted.Redacted>> {
  return {
    variable,
    unit: "secret",
    default: "none",
    shape: "1 to 500 printable characters",
    meaning: options.meaning,
    secret: true,
    fallback: Option.none(),
    parse: (value) =>
      /^\P{Cc}{1,500}$/u.test(value) ? Option.some(Redacted.make(value, { label: variable })) : undefined
  }
}

/** One of several words. */
export function choice<const A extends string | boolean>(
  variable: string,
  options: { readonly fallback: string; readonly choices: { readonly [text: string]: A }; readonly meaning: string }
): Definition<A> {
  return {
    variable,
    unit: "word",
    default: `\`${options.fallback}\``,
    shape: `one of ${Object.keys(options.choices).join(", ")}`,
    meaning: options.meaning,
    secret: false,
    fallback: options.choices[options.fallback] as A,
    parse: (value) => new Map(Object.entries(options.choices)).get(value.toLowerCase())
  }
}

/** Yes or no. */
export const flag = (variable: string, fallback: boolean, meaning: string): Definition<boolean> =>
  choice(variable, { fallback: `${fallback}`, choices: { true: true, false: false }, meaning })

/** The sentence for a value that does not have the shape of its setting. The value of a secret setting is not shown. */
export const complaint = (definition: Setting, found: string): string => {
  const shown = definition.secret ? "something else (not shown, as it may hold a password)" : JSON.stringify(found)
  const sentence = `${definition.variable} must be ${definition.shape}, but it is ${shown}.`
  return `${sentence} Correct it, or unset it for the default (${definition.default}).`.replaceAll("`", "")
}
