/** Reads an experience, the public facts of its mechanisms, and the consumer's standing in each. */
import { type Place, placesIn, statusPathOf } from "./places.ts"
import { type Options, orUndefined } from "../requests.ts"
import { hear } from "../moving/time.ts"
import type { Sessions } from "../sessions.ts"
import type { Experience, Live } from "../types.ts"

/** The last reading; without an experience the experience is not shown. */
export interface Known {
  readonly experience?: Experience
  readonly places: ReadonlyArray<Place>
  /** The experience has an access code that this consumer has not shown. */
  readonly isBarred?: boolean
}

/** Reads the public facts, which caches may answer. */
export async function readLive(sessions: Sessions, id: string, options: Options): Promise<Live> {
  const live = await sessions.request<Live>(`/experiences/${id}/live`, { ...options, as: "nobody" })
  hear(Date.parse(live.now))
  return live
}

/** Reads everything. */
export async function read(sessions: Sessions, id: string, options: Options): Promise<Known> {
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
