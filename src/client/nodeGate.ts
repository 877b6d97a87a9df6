/** A gate in front of a site in Node: its own `http`, Express, Fastify, and what else has its requests. */
import { addressIn } from "./addresses.ts"
import { makeCrawlers } from "./crawlers.ts"
import { answerTo } from "./gateAnswers.ts"
import { GateField, type GateSettings as FieldSettings } from "./gateField.ts"
import { formLengthMax, formMillisMax, within } from "./forms.ts"

/** What a gate reads of a request of Node. */
export interface Incoming {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The whole path, where Express has mounted the gate below one. */
  readonly originalUrl?: string
  readonly headers: { readonly [name: string]: string | ReadonlyArray<string> | undefined }
  readonly socket: { readonly remoteAddress?: string | undefined }
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterable<Uint8Array>
  resume(): unknown
}

/** What a gate writes of an answer of Node. */
export interface Outgoing {
  writeHead(status: number, messageOrHeaders?: string | object): unknown
  setHeader(name: string, value: string | ReadonlyArray<string>): unknown
  getHeader(name: string): number | string | ReadonlyArray<string> | undefined
  end(body?: string): unknown
}

export interface NodeGateSettings extends FieldSettings {
  /** The crawler that the site has verified. Default: verified by DNS where `clientAddress` is there. */
  readonly crawler?: (incoming: Incoming) => string | undefined
  /**
   * The visitor's address, as a proxy that you trust names it; `incoming.socket.remoteAddress` where no proxy stands before.
   * Usher's limits for each address hold then.
   */
  readonly clientAddress?: (incoming: Incoming) => string | undefined
}

/** Answers true after it has answered the request, and false if the site has to. */
export type NodeGate = (incoming: Incoming, outgoing: Outgoing) => Promise<boolean>

export function createGate(settings: NodeGateSettings): NodeGate {
  const field = new GateField(settings)
  const crawlers = makeCrawlers()
  return async (incoming, outgoing) => {
    const { method = "GET", url = "/", originalUrl: target = url } = incoming
    const headers = headersOf(incoming)
    const clientAddress = addressIn(settings.clientAddress?.(incoming) ?? "")
    const crawler = settings.crawler ? settings.crawler(incoming) : await crawlers(headers["user-agent"], clientAddress)
    const asked = {
      method,
      target,
      headers,
      ...(crawler !== undefined && { crawler }),
      ...(clientAddress !== undefined && { clientAddress })
    }
    // Work goes on by itself.
    const decision = await field.decide(
      asked,
      () => formOf(incoming),
      () => {}
    )
    if (decision.kind === "pass") {
      if (decision.cookie !== undefined) addCookie(outgoing, decision.cookie)
      return false
    }
    const { status, headers: own, cookies, body } = answerTo(decision)
    outgoing.writeHead(status, cookies.length > 0 ? { ...own, "set-cookie": cookies } : own)
    outgoing.end(body)
    return true
  }
}

/** `app.use(forExpress(gate))`, before anything that reads bodies. */
export const forExpress =
  (gate: NodeGate) =>
  async (incoming: Incoming, outgoing: Outgoing, next: (error?: unknown) => void): Promise<void> => {
    let hasAnswered
    try {
      hasAnswered = await gate(incoming, outgoing)
    } catch (error) {
      return next(error)
    }
    if (!hasAnswered) next()
  }

/** `app.addHook("onRequest", forFastify(gate))` */
export const forFastify =
  (gate: NodeGate) =>
  async (
    { raw: incoming }: { readonly raw: Incoming },
    reply: { readonly raw: Outgoing; hijack(): unknown }
  ): Promise<void> => {
    if (await gate(incoming, reply.raw)) reply.hijack()
  }

const headersOf = ({ headers }: Incoming): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))
  )

/** The text of a short form; undefined for another one, the rest of which nobody reads. */
const formOf = async (incoming: Incoming): Promise<string | undefined> => {
  const text = await within(formMillisMax, textFrom(incoming)).catch(() => undefined)
  if (text === undefined) incoming.resume()
  return text
}

const textFrom = async (incoming: Incoming): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  let text = ""
  let length = 0
  // The answer needs the connection.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    length += chunk.length
    if (length > formLengthMax) return undefined
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}

/** Adds the cookie as late as the site writes its head, which may have cookies of its own. */
const addCookie = (outgoing: Outgoing, cookie: string): void => {
  const writeHead = outgoing.writeHead.bind(outgoing)
  outgoing.writeHead = (status: number, ...rest: ReadonlyArray<unknown>) => {
    const message = rest.find((one) => typeof one === "string")
    for (const [name, value] of pairsOf(rest.at(-1))) outgoing.setHeader(name, value)
    const own = outgoing.getHeader("set-cookie")
    outgoing.setHeader("set-cookie", [...(own === undefined ? [] : [own].flat().map(String)), cookie])
    // The visitor's answer is nobody else's.
    outgoing.setHeader("cache-control", "no-store")
    outgoing.writeHead = writeHead
    return writeHead(status, message)
  }
}

/** The headers of `writeHead`: an object, or names and values in turns, or pairs of them. */
const pairsOf = (headers: unknown): ReadonlyArray<readonly [string, string | ReadonlyArray<string>]> => {
  if (!Array.isArray(headers)) return typeof headers === "object" && headers ? Object.entries(headers) : []
  const flat = headers.flat() as ReadonlyArray<string>
  const byName: { [name: string]: Array<string> } = {}
  for (let at = 0; at + 1 < flat.length; at += 2) (byName[flat[at]!.toLowerCase()] ??= []).push(flat[at + 1]!)
  return Object.entries(byName)
}
