/**
 * Which rule of a gate fits a request. Origins read an odd path differently: a rule that protects fits if any reading
 * of the path fits, a rule that lets pass only if every reading does.
 */

/** All conditions that are present must hold. */
export interface RuleConditions {
  readonly path?: string
  readonly pathPrefix?: string
  readonly methods?: ReadonlyArray<string>
  /** Without a value, the header must be present. */
  readonly header?: { readonly name: string; readonly value?: string }
  /** The name of a cookie that must be present. */
  readonly cookie?: string
  /** The name of a crawler. The runtime verifies it; a `User-Agent` proves nothing. */
  readonly crawler?: string
}

export type FailMode = "open" | "closed"

export interface GateRule {
  readonly name?: string
  readonly when: RuleConditions
  readonly then: "pass" | { readonly queueId: string }
  readonly failMode?: FailMode
  /** What becomes of visitors without a grant once the queue has ended. Default: closed. */
  readonly afterEnd?: "pass" | "closed"
}

/** What a gate reads of a request. */
export interface GateRequest {
  readonly method: string
  /** Path and query as they were sent. */
  readonly target: string
  /** By names in lower case, `host` among them. */
  readonly headers: { readonly [name: string]: string }
  /** The body of a form, at most 16,384 bytes of it. Only the return path needs it. */
  readonly form?: string
  /** The crawler that the runtime has verified. */
  readonly crawler?: string
  /** The visitor's address, as a proxy that is trusted names it. Rules do not read it. */
  readonly clientAddress?: string
}

/** The first rule that fits. */
export const ruleFor = (rules: ReadonlyArray<GateRule>, request: GateRequest): GateRule | undefined => {
  const readings = readingsOf(request.target)
  return rules.find(({ when, then }) => fitsPath(when, then === "pass", readings) && fitsRest(when, request))
}

const fitsPath = ({ path, pathPrefix }: RuleConditions, lets: boolean, readings: ReadonlyArray<string>): boolean => {
  const isFitting = (reading: string) =>
    lets
      ? (path === undefined || reading === bytesOf(path)) &&
        (pathPrefix === undefined || reading.startsWith(bytesOf(pathPrefix)))
      : (path === undefined || bare(reading) === bare(bytesOf(path))) &&
        (pathPrefix === undefined || lower(reading).startsWith(lower(bytesOf(pathPrefix))))
  return lets ? readings.every(isFitting) : readings.some(isFitting)
}

const fitsRest = ({ methods, header, cookie, crawler }: RuleConditions, request: GateRequest): boolean => {
  if (methods && !methods.includes(request.method)) return false
  if (header) {
    const value = request.headers[header.name.toLowerCase()]
    if (value === undefined || (header.value !== undefined && value !== header.value)) return false
  }
  if (cookie !== undefined && cookiesIn(request, cookie).length === 0) return false
  return crawler === undefined || request.crawler === crawler
}

/** The values of all cookies of this name. */
export const cookiesIn = ({ headers }: GateRequest, name: string): ReadonlyArray<string> =>
  (headers["cookie"] ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))

/** The path of a target, without scheme and host where a proxy sends them. */
export const pathOf = (target: string): string => target.replace(/^https?:\/\/[^/?#]*/i, "").split(/[?#]/, 1)[0] || "/"

/** The path as it was sent but for its escapes, and as a thorough origin resolves it. */
const readingsOf = (target: string): ReadonlyArray<string> => {
  const sent = unescaped(pathOf(target))
  return [sent, resolved(unescaped(unescaped(sent)))]
}

/** Decodes escapes to characters of one byte each; leaves what is no escape. */
export const unescaped = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** The path of a rule, which may have escapes, in the characters of `unescaped`. */
const bytesOf = (path: string): string => unescaped(encodeURI(path).replaceAll("%25", "%"))

/** Without empty and dot segments, backslashes and parameters of segments. */
const resolved = (path: string): string => {
  const segments: Array<string> = []
  const parts = path.replaceAll("\\", "/").split("/")
  for (const part of parts) {
    const segment = part.split(";")[0]!
    if (segment === "..") segments.pop()
    else if (segment !== "" && segment !== ".") segments.push(segment)
  }
  const isFolder = segments.length > 0 && parts.at(-1) === ""
  return `/${segments.join("/")}${isFolder ? "/" : ""}`
}

/** Many origins take these for the same. */
const bare = (path: string): string => lower(path.replace(/(?<!\/)\/+$/, ""))

const lower = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
