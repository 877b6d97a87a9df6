/** A visitor that a gate sends to the room, without a window: two hosts with cookies each, and the room's forms. */
import { request } from "node:http"
import { text } from "node:stream/consumers"
import { cookieOf, type GatedShop, type Line, type Visited } from "../../support/gates/GatedShop.ts"
import { pause } from "../../support/Processes.ts"
import { forwardedFor } from "../rooms/Browser.ts"

const attemptsMax = 240

/** Between two looks at the place. */
const lookMillis = 1_000

/** Visitors so far. Each has an address of its own. */
let visitors = 0

export class RoomVisitor {
  private readonly site: GatedShop
  private readonly line: Line
  private readonly atShop = new Map<string, string>()
  private readonly atRoom = new Map<string, string>()
  private readonly forwarded = forwardedFor(visitors++)
  private room = ""
  private consumer = ""

  /** `own`: the name and value of a cookie that the shop has set before. */
  constructor(site: GatedShop, line: Line, own: ReadonlyArray<readonly [string, string]> = []) {
    this.site = site
    this.line = line
    for (const [name, value] of own) this.atShop.set(name, value)
  }

  /** Everything the shop's host has set. */
  get cookie(): string {
    return written(this.atShop)
  }

  /** The consumer, as its grant names it. */
  get consumerId(): string {
    return this.consumer
  }

  /** Asks for a page of the shop, with the cookies that it has set. */
  async visit(path: string): Promise<Visited> {
    const page = await this.site.visit(path, { cookie: this.cookie })
    keep(this.atShop, page.cookies)
    return page
  }

  /** Goes to the room to which an answer leads, waits there, and goes on with the grant. */
  async waited(away: Visited): Promise<Visited> {
    if (away.location === undefined) throw new Error("the answer leads nowhere")
    const shell = await this.seen(away.location)
    this.room = shell.url.split("?")[0]!.replace(/\/place$/, "")
    const query = `?return=${encodeURIComponent(new URL(away.location).searchParams.get("return") ?? "")}`
    if (/value="enter"|\/enter/.test(shell.text)) await this.posted("enter", query)
    let last = ""
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const place = await this.seen(`${this.room}/place${query}`)
      last = place.text
      const grant = /name="usher_grant" value="([^"]+)"/.exec(place.text)?.[1]
      const action = /method="post"[^>]*?action="([^"]+)"[^>]*?data-continue/s.exec(place.text)?.[1]
      if (grant !== undefined && action !== undefined) return this.returned(action.replaceAll("&amp;", "&"), grant)
      await pause(lookMillis)
    }
    throw new Error(`the room gave no grant: ${last.slice(0, 4_000)}`)
  }

  private async returned(action: string, grant: string): Promise<Visited> {
    this.consumer = JSON.parse(Buffer.from(grant.split(".")[1]!, "base64url").toString()).consumerId as string
    const { pathname, search } = new URL(action)
    const back = await this.site.visit(pathname + search, { cookie: this.cookie, form: `usher_grant=${grant}` })
    keep(this.atShop, back.cookies)
    if (!this.atShop.has(cookieOf(this.line))) throw new Error(`the return path set no cookie: ${back.status}`)
    return back
  }

  /** Gives up the place in the room. */
  async leave(): Promise<void> {
    const { status, text: page } = await this.posted("leave", "", { confirmed: "yes" })
    if (status !== 200) throw new Error(`leaving returned ${status}: ${page.slice(0, 300)}`)
  }

  private posted(action: string, query: string, more: object = {}) {
    const attempt = crypto.randomUUID()
    const body = new URLSearchParams({ at: this.line.queueId, attempt, ...more }).toString()
    return this.seen(`${this.room}/${action}${query}`, body)
  }

  /** A page of the room, after all redirects within it. */
  private async seen(address: string, body?: string): Promise<{ status: number; text: string; url: string }> {
    const answer = await new Promise<import("node:http").IncomingMessage>((answered, failed) => {
      const headers = {
        accept: body === undefined ? "text/html" : "text/html;part=room",
        ...(this.atRoom.size > 0 && { cookie: written(this.atRoom) }),
        ...this.forwarded,
        "sec-fetch-site": body === undefined ? "none" : "same-origin",
        ...(body !== undefined && { "content-type": "application/x-www-form-urlencoded" })
      }
      const method = body === undefined ? "GET" : "POST"
      request(address, { method, agent: false, headers }, answered).on("error", failed).end(body)
    })
    keep(this.atRoom, answer.headers["set-cookie"] ?? [])
    const page = { status: answer.statusCode!, text: await text(answer), url: address }
    const { location } = answer.headers
    return page.status >= 300 && location !== undefined ? this.seen(new URL(location, address).href) : page
  }
}

const written = (cookies: ReadonlyMap<string, string>): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")

/** Keeps what an answer sets, and forgets what it ends. */
const keep = (cookies: Map<string, string>, lines: ReadonlyArray<string>): void => {
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    if (value === "" || /max-age=0(;|$)/i.test(line)) cookies.delete(name)
    else cookies.set(name, value)
  }
}
