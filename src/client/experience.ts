/** One experience as its consumer sees it, kept up to date while it has a subscriber. */
import { follow, pause } from "./follow.ts"
import { serverNow, setServerTime } from "./clock.ts"
import { type Options, orUndefined, UsherError } from "./requests.ts"
import type { Sessions } from "./sessions.ts"
import type { Experience, Live } from "./types.ts"
import {
  type Action,
  type ExperienceData,
  fieldsOf,
  type Input,
  loading,
  pathOf,
  type Place,
  placesIn,
  type Snapshot,
  snapshotOf,
  statusOf,
  statusPathOf,
  withFacts
} from "./view.ts"

type Own = NonNullable<Place["own"]>

/** Milliseconds between two looks at the public facts, and at those of an auction, besides `soonMillis`. */
const lookMillis = 19_000
const auctionLookMillis = 4_000

/** What all consumers see at once, such as an opening, each asks for within two seconds, when caches are a second old. */
const soonMillis = () => 1_100 + Math.random() * 2_000

export class ExperienceStore {
  declare readonly id: string
  readonly #sessions: Sessions
  readonly #listeners = new Set<() => void>()
  #snapshot = loading
  #data: ExperienceData | undefined
  #isConnected = true
  #loads = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #stop: (() => void) | undefined
  #followed: { readonly of: string; readonly stop: () => void } | undefined
  /** The place of which no further event will come, with its standing. */
  #over: string | undefined
  /** The consumer that has entered the experience. */
  #entered: string | undefined

  constructor(sessions: Sessions, id: string) {
    this.#sessions = sessions
    this.id = id
  }

  /** Calls the listener after each change, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    this.#stop ??= this.#start()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  /** Returns the same object until something changes. */
  readonly getSnapshot = (): Snapshot => this.#snapshot

  /** Does something, and returns when Usher has answered. Throws `UsherError` if it is refused. */
  readonly act = async (action: Action, input: Input = {}, options: Options = {}): Promise<Snapshot> => {
    const asking = { ...options, reached: this.#reached }
    if (!this.#data) await this.load(asking)
    const perform = async () => {
      await this.#sessions.start(asking)
      await this.#perform(action, input, asking)
      return true
    }
    try {
      // If the session is lost, the consumer continues as another guest.
      if (!(await perform().catch(orUndefined(401)))) await perform()
    } catch (error) {
      await this.load(asking)
      throw error
    }
    return this.#snapshot
  }

  /** Goes on to the shop with the grant, as a form post: an address would end up in logs. */
  readonly continueTo = (url: string): void => {
    const { admissionGrant } = fieldsOf(this.#snapshot.places[0] ?? {})
    if (!admissionGrant) throw notPossible()
    const form = Object.assign(document.createElement("form"), { method: "post", action: url })
    form.append(Object.assign(document.createElement("input"), { name: "usher_grant", value: admissionGrant }))
    document.body.append(form)
    form.submit()
    form.remove()
  }

  /** Reads everything again. */
  readonly load = async (options: Options = {}): Promise<void> => {
    const mine = ++this.#loads
    const data = await read(this.#sessions, this.id, { ...options, reached: this.#reached })
    // A later request has the later state.
    if (mine !== this.#loads) return
    this.#data = data
    this.#emit()
    this.#lookLater()
  }

  async #perform(action: Action, { at, ...body }: Input, asking: Options): Promise<void> {
    const sessions = this.#sessions
    const call = { ...asking, as: "consumer" } as const
    const post = <A>(path: string, body: object) => sessions.request<A>(path, { ...call, method: "POST", body })
    const enter = (body: object) => post(`/experiences/${this.id}/enter`, body)
    if (action === "unlock") {
      await enter(body)
      return this.load(asking)
    }
    const place = this.#snapshot.places.find(({ id, actions }) => (at ? id === at : actions.includes(action)))
    if (!place) throw notPossible()
    const consumerId = sessions.session?.consumerId
    if (this.#entered !== consumerId) await enter({})
    this.#entered = consumerId
    const own = await post<Own>(`${pathOf(place)}/${action === "join" ? "enter" : action}`, body).catch(
      async (error: unknown) => {
        // The answer to an accepted bid was lost: repeated, the same amount is too low.
        if (action !== "bid") throw error
        const own = await sessions.request<Own>(statusPathOf(place), call)
        if (Number(fieldsOf({ own }).lastBidAmount) !== Number(body.amount)) throw error
        return own
      }
    )
    // The answer to a withdrawn entry is its former state.
    this.#put(place.id, place.kind === "draw" && "leftAt" in own ? { status: "NOT_ENTERED" } : own)
  }

  /** Takes in the consumer's standing in one place. */
  #put(placeId: string, own: Own): void {
    this.#replace((place) => (place.id === placeId ? ({ ...place, own } as Place) : place))
  }

  #replace(change: (place: Place) => Place): void {
    if (this.#data) this.#data = { ...this.#data, places: this.#data.places.map(change) }
    this.#emit()
  }

  readonly #reached = (isReached: boolean): void => {
    if (this.#isConnected === isReached) return
    this.#isConnected = isReached
    this.#emit()
  }

  #emit(): void {
    this.#snapshot = snapshotOf(this.#data, this.#sessions.session, this.#isConnected)
    this.#watch()
    for (const listener of this.#listeners) listener()
  }

  /** Follows the first place that may change, if there is one and the page is seen. */
  #watch(): void {
    const { places, session } = this.#snapshot
    const place = places.find(({ state }) => state === "granted" || state === "waiting")
    const isFollowed = this.#stop && place && !isHidden() && this.#over !== stateKey(place)
    const of = isFollowed ? `usher ${session?.consumerId} ${place.id}` : undefined
    if (this.#followed?.of === of) return
    this.#unfollow()
    if (!of || !place) return
    const call = { as: "consumer", reached: this.#reached } as const
    const stop = follow<Own>(
      {
        name: of,
        open: (signal) => this.#sessions.fetch(`${pathOf(place)}/events`, { ...call, signal }),
        ask: (signal) => this.#sessions.request<Own>(statusPathOf(place), { ...call, signal }).catch(() => undefined)
      },
      {
        onState: (own) => {
          this.#isConnected = true
          this.#put(place.id, own)
        },
        onEnd: (reason) => {
          const now = this.#data?.places.find(({ id }) => id === place.id)
          if (reason === "CLOSED" && now) this.#over = stateKey(now)
          this.#unfollow()
          setTimeout(this.refresh, soonMillis())
        },
        onFailure: () => this.#reached(false)
      }
    )
    this.#followed = { of, stop }
  }

  #unfollow(): void {
    this.#followed?.stop()
    this.#followed = undefined
  }

  /** Reads everything again if there is a subscriber and the page is visible. */
  readonly refresh = (): void => {
    if (!this.#stop || isHidden()) return
    this.load().catch(({ retryAfterSeconds }: UsherError) => {
      if (retryAfterSeconds) void pause(0, undefined, retryAfterSeconds).then(this.refresh)
    })
  }

  /** Begins to keep up to date. Returns the function that stops. */
  #start(): () => void {
    const stop = new AbortController()
    // A device that wakes up has a dead stream that looks alive.
    const wake = () => {
      this.#unfollow()
      this.refresh()
    }
    onWake(wake, this.#sessions.storageKey, stop.signal)
    queueMicrotask(this.refresh)
    this.#lookLater()
    return () => {
      stop.abort()
      clearTimeout(this.#timer)
      this.#unfollow()
    }
  }

  /** Reads the public facts. A changed lifecycle needs everything again. */
  async #look(): Promise<void> {
    const before = this.#data && lifecyclesOf(this.#data)
    const live = before && !isHidden() && (await readLive(this.#sessions, this.id, {}).catch(() => undefined))
    if (live) {
      this.#replace((place) => withFacts(place, live))
      if (lifecyclesOf(this.#data!) !== before) this.refresh()
    }
    this.#lookLater()
  }

  #lookLater(): void {
    clearTimeout(this.#timer)
    if (this.#stop) this.#timer = setTimeout(() => void this.#look(), this.#untilLook())
  }

  /** Milliseconds until the next look: at a known opening or closing, else regularly. */
  #untilLook(): number {
    const { places = [] } = this.#data ?? {}
    const isAuction = places.some(({ kind, lifecycle }) => kind === "auction" && lifecycle === "open")
    const instants = places
      .flatMap((place) => [place.openAt, place.closeAt, place.lobbyOpenAt, fieldsOf(place).startTime])
      .map((instant) => Date.parse(instant!) - serverNow())
      .filter((left) => left > -1_000)
    return Math.min(isAuction ? auctionLookMillis : lookMillis, ...instants) + soonMillis()
  }
}

const notPossible = () => new UsherError(409, { code: "NOT_POSSIBLE" })

const lifecyclesOf = ({ places }: ExperienceData): string => places.map(({ lifecycle }) => lifecycle).join()

const stateKey = (place: Place): string => place.id + statusOf(place)

/** Reads the public facts, which caches may answer. */
async function readLive(sessions: Sessions, id: string, options: Options): Promise<Live> {
  const live = await sessions.request<Live>(`/experiences/${id}/live`, { ...options, as: "nobody" })
  setServerTime(Date.parse(live.now))
  return live
}

/** Reads everything. */
async function read(sessions: Sessions, id: string, options: Options): Promise<ExperienceData> {
  const path = `/experiences/${id}`
  const own = <A>(path: string, method = "GET") =>
    sessions.request<A>(path, { ...options, as: "consumer", method }).catch(orUndefined(401, 403, 404))
  const everybodys = await Promise.all([
    readLive(sessions, id, options),
    sessions.request<Experience>(path, options)
  ]).catch(orUndefined(404))
  if (!everybodys) return { places: [] }
  const [live, open] = everybodys
  const isProtected = open.hasProtectedSequences ? sessions.session : undefined
  const entry = isProtected ? await own<{ readonly experience: Experience }>(`${path}/enter`, "POST") : undefined
  const experience = entry?.experience ?? open
  const places = await Promise.all(
    placesIn(experience, live).map(async (place) => {
      const state = sessions.session && (await own<Place["own"]>(statusPathOf(place)))
      return { ...place, own: state } as Place
    })
  )
  return { experience, places, isBarred: isProtected !== undefined && !entry }
}

/** True if the page is not seen. Outside of browsers it always is. */
const isHidden = (): boolean => globalThis.document?.hidden

/** Calls when the page is hidden or seen again, the device is online again, or another tab has another session. */
const onWake = (wake: () => void, storageKey: string, signal: AbortSignal): void => {
  for (const type of ["visibilitychange", "pageshow", "online", "storage"]) {
    globalThis.addEventListener?.(
      type,
      (event: Partial<StorageEvent>) => {
        if ([undefined, storageKey].includes(event.key!)) wake()
      },
      { signal }
    )
  }
}
