/** Follows one place of the visitor, which the page names as `{kind}.{id}`. */
import { follow as followPlace, Refusal } from "../../client/follow.ts"

/** The reported facts of a place. */
export interface Told {
  readonly status?: string
  readonly isEntered?: boolean
  readonly position?: number | null
  readonly estimatedWaitTimeInSeconds?: number
}

export interface Listener {
  readonly told: (kind: string, state: Told) => void
  readonly ended: () => void
  readonly failed: () => void
}

let current: { readonly of: string; readonly stop: () => void } | undefined

/** Follows nothing. */
export function stop(): void {
  current?.stop()
  current = undefined
}

/** Follows this place only. Without one it follows nothing. */
export function follow(base: string, of: string | undefined, listener: Listener): void {
  if (current?.of === of) return
  stop()
  if (of === undefined) return
  const stopFollowing = followPlace<Told>(
    {
      name: `usher ${base} ${of}`,
      open: (signal) => fetch(`${base}/live?of=${of}`, { signal, credentials: "same-origin" }),
      ask: () => ask(base, of)
    },
    {
      ...listener,
      told: (state) => listener.told(of.slice(0, of.indexOf(".")), state),
      ended: () => {
        current = undefined
        listener.ended()
      }
    }
  )
  current = { of, stop: stopFollowing }
}

/** Asks for the place once. */
async function ask(base: string, of: string): Promise<Told | undefined> {
  const reply = await fetch(`${base}/state`, { credentials: "same-origin" })
  if (!reply.ok) throw new Refusal(reply)
  const { places } = (await reply.json()) as { readonly places: ReadonlyArray<Told & { readonly id: string }> }
  return places.find(({ id }) => of.endsWith(id))
}
