/** The stream of changes of a drop. Without `EventSource`, or where the server refuses the stream, there is none. */

/** Milliseconds after which a refused stream is asked for again. */
const againMillis = 60_000

export interface Changes {
  /** Opens the stream if it is wanted and may be opened, and closes it if it is not. */
  readonly follow: (isWanted: boolean) => void
  /** Whether changes are told. Otherwise they must be asked for. */
  readonly isOpen: () => boolean
}

export const changes = (address: string | undefined, onChange: () => void): Changes => {
  let source: EventSource | undefined
  let nextAt = 0

  const close = (waitMillis: number): void => {
    source?.close()
    source = undefined
    nextAt = Date.now() + waitMillis
  }

  const open = (url: string): void => {
    const opened = new EventSource(url)
    source = opened
    for (const name of ["state", "distribution", "removed"]) opened.addEventListener(name, onChange)
    // The drop is archived, the session has ended, or another tab has taken the place of this one.
    opened.addEventListener("end", () => close(Infinity))
    // The browser connects again, unless the answer was a refusal.
    opened.addEventListener("error", () => {
      if (opened.readyState === EventSource.CLOSED) close(againMillis)
    })
  }

  return {
    follow: (isWanted) => {
      if (!isWanted) close(0)
      else if (source === undefined && address !== undefined && "EventSource" in window && Date.now() >= nextAt)
        open(address)
    },
    isOpen: () => source?.readyState === 1
  }
}
