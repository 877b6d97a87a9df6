/**
 * A shop behind a proxy and `usher gate`: attacks, a visitor on its way through the room, a grant that has ended, and an
 * Usher that is killed and comes back.
 */
import { Apis } from "../../support/Apis.ts"
import { aLine, cookieOf, GatedShop, type Line, passed } from "../../support/gates/GatedShop.ts"
import type { ProxyName, WeaknessName } from "../../support/gates/Proxies.ts"
import { type RawAnswer, sentRaw } from "../../support/gates/RawRequests.ts"
import { pause } from "../../support/Processes.ts"
import { type Keys, ServerUnderTest } from "../../support/ServerUnderTest.ts"
import { type Attack, attacksWith, type Loot } from "./Attacks.ts"
import { RoomVisitor } from "./RoomVisitor.ts"

export interface Figures {
  attacks: number
  /** Requests that attackers got to the shop's other pages. */
  harmless: number
  /** From the kill of Usher to the declared modes, from its return to the first visitor who enters. */
  closedMillis: number
  backMillis: number
  /** Requests of the visitor inside, and those that were refused. */
  asked: number
  refused: number
  readonly violations: Array<string>
}

export interface Options {
  /** Runs one attack of so many. Default: every one. */
  readonly each?: number
}

/** An Usher, and two organizations of it. */
export class Ushers {
  readonly server: ServerUnderTest
  readonly apis: Apis
  readonly foreign: Apis

  static async make(): Promise<Ushers> {
    const server = await ServerUnderTest.make({ settings: { TRUSTED_PROXIES: "127.0.0.0/8" } })
    await server.start()
    const ushers = new Ushers(server, [await server.createOrganization(), await server.createOrganization()])
    // Browsers of the proof do no work for the gate for bots.
    await ushers.apis.change("/organizations/me", { challenge: { mode: "off" } })
    return ushers
  }

  private constructor(server: ServerUnderTest, keys: ReadonlyArray<Keys>) {
    this.server = server
    this.apis = new Apis(server, keys[0]!)
    this.foreign = new Apis(server, keys[1]!)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.apis[Symbol.dispose]()
    this.foreign[Symbol.dispose]()
    await this.server[Symbol.asyncDispose]()
  }
}

export async function proxiesProof(name: ProxyName, ushers: Ushers, { each = 1 }: Options = {}): Promise<Figures> {
  const figures: Figures = {
    attacks: 0,
    harmless: 0,
    closedMillis: Number.NaN,
    backMillis: Number.NaN,
    asked: 0,
    refused: 0,
    violations: []
  }
  const line = await aLine(ushers.apis, { insideLimit: 1_000 })
  await using site = await GatedShop.make(name, ushers.server, line)
  const proof = new ProxyProof(ushers, line, site, figures)
  await proof.entry()
  if (figures.violations.length > 0) return figures
  await proof.attacked(each)
  await proof.walk()
  await proof.away()
  return figures
}

/** Which attack first reaches the checkout behind a proxy whose configuration has a mistake. */
export async function firstToReach(
  name: ProxyName,
  { apis, foreign, server }: Ushers,
  weakness: WeaknessName
): Promise<string | undefined> {
  const line = await aLine(apis)
  await using site = await GatedShop.make(name, server, line, weakness)
  // The one who may be inside.
  const grant = (await passed(apis, line)).admissionGrant!
  for (const attack of attacksWith(await lootOf(apis, foreign, line, grant))) {
    await sentRaw(site.proxy.port, attack.text)
    if (site.shop.seen.some((one) => one.isProtected)) return attack.name
  }
  return undefined
}

const lootOf = async (apis: Apis, foreign: Apis, line: Line, grant: string): Promise<Loot> => {
  const [other, another] = [await aLine(apis), await aLine(foreign)]
  const cookie = cookieOf(line)
  return {
    cookie,
    plainCookie: cookie.replace("__Host-", ""),
    grant,
    otherGrant: (await passed(apis, other)).admissionGrant!,
    foreignGrant: (await passed(foreign, another)).admissionGrant!
  }
}

class ProxyProof {
  private readonly ushers: Ushers
  private readonly line: Line
  private readonly site: GatedShop
  private readonly figures: Figures
  /** The cookie of the visitor who is inside. */
  private inside = ""

  constructor(ushers: Ushers, line: Line, site: GatedShop, figures: Figures) {
    this.ushers = ushers
    this.line = line
    this.site = site
    this.figures = figures
  }

  /** A visitor enters unseen: the shop's own answer has the cookie besides its own, and a form's body arrives. */
  async entry(): Promise<void> {
    const { site } = this
    const enters = () => site.visit("/checkout?a=1", { body: "x=1" })
    let first = await enters()
    // A busy machine may answer late.
    for (let tries = 1; first.status !== 200 && tries < 20; tries++) first = await pause(500).then(enters)
    this.is("the first visitor", [first.status, first.text], [200, "the shop: POST /checkout"])
    this.is("what the shop got", [site.shop.seen.at(-1)?.url, site.shop.seen.at(-1)?.body], ["/checkout?a=1", "x=1"])
    const names = new Set(first.cookies.map((one) => one.split("=")[0]))
    const wanted = [cookieOf(this.line), "own", "second"]
    this.is("its cookies", [names.size, wanted.every((name) => names.has(name))], [3, true])
    this.is("may be cached", /no-store/.test(String(first.headers["cache-control"])), true)
    this.inside = first.cookies.find((one) => one.startsWith("__Host-"))?.split(";")[0] ?? ""
    const second = await this.again("/checkout/pay")
    this.is("the visitor again", [second.status, second.cookies.length], [200, 2])
    await this.ushers.apis.change(`/queues/${this.line.queueId}`, { insideLimit: 1 })
    const full = await site.visit("/checkout?b=2")
    const back = new URL(full.location ?? site.shop.url).searchParams.get("return")
    const [page, state = ""] = back?.split("&state=") ?? []
    this.is("the next one", [full.status, page], [303, "https://shop.example/.usher/return?to=%2Fcheckout%3Fb%3D2"])
    this.is(
      "the state of its browser",
      full.cookies.map((one) => one.split(";")[0]),
      [`__Host-usher-state=${state}`]
    )
    const program = await site.visit("/checkout", { accept: "application/json" })
    this.is("a program", [program.status, "retry-after" in program.headers], [429, true])
    this.is("where it may wait", /\/e\//.test(String(parsed(program.text).roomUrl)), true)
    this.is("a page without a rule", (await site.visit("/")).status, 200)
  }

  async attacked(each: number): Promise<void> {
    const { site, figures, ushers, line } = this
    const loot = await lootOf(ushers.apis, ushers.foreign, line, this.inside.split("=")[1]!)
    const attacks = attacksWith(loot).filter((_, index) => index % each === 0)
    for (const attack of attacks) {
      const before = site.shop.seen.length
      const answer = await sentRaw(site.proxy.port, attack.text)
      // What was smuggled in would be the answer to the next request of somebody else.
      const next = await site.visit("/after")
      this.is(`after ${attack.name}`, next.text, "the shop: GET /after")
      const reached = site.shop.seen.slice(before).filter(({ url }) => url !== "/after")
      const wrong = [
        this.harmOf(answer, attack),
        ...reached.filter((one) => one.isProtected).map(({ url }) => `reaches ${url}`)
      ]
      for (const one of wrong)
        if (one !== undefined) figures.violations.push(`${site.proxy.name}: ${attack.name} ${one}`)
      figures.attacks += 1
      figures.harmless += reached.length
    }
    this.is("the visitor inside, after all attacks", (await this.again("/checkout")).status, 200)
  }

  private harmOf(answer: RawAnswer, { wrong }: Attack): string | undefined {
    if (/the shop: \w+ \/checkout/.test(answer.text)) return "sees the checkout"
    if (/set-cookie: *[\w-]*usher-grant-[^=]*=[\w-]/i.test(answer.text)) return "gets a cookie"
    if (/^location: *https?:\/\/evil/im.test(answer.text)) return "leads away"
    return wrong?.(answer)
  }

  /** A visitor waits in the room, comes back, and gives up its place. Its cookie is worth nothing then. */
  async walk(): Promise<void> {
    const { site, line, ushers } = this
    const visitor = new RoomVisitor(site, line)
    const away = await visitor.visit("/checkout?c=3")
    this.is("a visitor while it is full", away.status, 303)
    // Attackers have got places in the line too.
    await ushers.apis.change(`/queues/${line.queueId}`, { insideLimit: 1_000 })
    const returned = await visitor.waited(away)
    this.is("back from the room", [returned.status, returned.location], [303, "/checkout?c=3"])
    const { cookie } = visitor
    this.is("at the checkout", (await site.visit("/checkout?c=3", { cookie })).status, 200)
    await visitor.leave()
    await pause(3_000)
    await ushers.apis.change(`/queues/${line.queueId}`, { insideLimit: 1 })
    this.is("a stolen cookie, after its visitor has left", (await site.visit("/checkout", { cookie })).status, 303)
    this.is("the other visitor", (await this.again("/checkout")).status, 200)
  }

  async away(): Promise<void> {
    const { site, figures, ushers, line } = this
    await ushers.apis.change(`/queues/${line.queueId}`, { insideLimit: 1_000 })
    await this.until("an open queue", "/checkout", 200, 15_000)
    const inside = new AbortController()
    const going = (async () => {
      while (!inside.signal.aborted) {
        figures.asked += 1
        if ((await this.again("/checkout")).status !== 200) figures.refused += 1
        await pause(50)
      }
    })()
    await ushers.server.kill()
    const killed = performance.now()
    const first = await site.visit("/checkout")
    figures.closedMillis = performance.now() - killed
    this.is("a new visitor while Usher is away", [first.status, "retry-after" in first.headers], [503, true])
    this.is("that it is told so", /tries again by itself/.test(first.text), true)
    this.is("where the rule is open", (await site.visit("/open")).status, 200)
    await ushers.server.start()
    const started = performance.now()
    await this.until("Usher is back", "/checkout", 200, 10_000)
    figures.backMillis = performance.now() - started
    inside.abort()
    await going
    this.is("refused visitors with a cookie", figures.refused, 0)
  }

  private async until(what: string, path: string, status: number, millisMax: number): Promise<void> {
    const began = performance.now()
    let found = 0
    while (performance.now() - began < millisMax) {
      found = (await this.site.visit(path)).status
      if (found === status) return
      await pause(25)
    }
    this.is(what, found, status)
  }

  private again(path: string) {
    return this.site.visit(path, { cookie: this.inside })
  }

  private is(what: string, found: unknown, expected: unknown): void {
    const [one, other] = [JSON.stringify(found), JSON.stringify(expected)]
    if (one !== other) this.figures.violations.push(`${this.site.proxy.name}: ${what}: ${one} instead of ${other}`)
  }
}

const parsed = (text: string): { readonly roomUrl?: string } => {
  try {
    return JSON.parse(text) as { readonly roomUrl?: string }
  } catch {
    return {}
  }
}
