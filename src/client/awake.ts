/** Whether a page is seen, and when it is seen again. Outside of browsers it always is. */

export const isHidden = (): boolean => globalThis.document?.hidden

/** Calls when the page is hidden or seen again, the device is online again, or another tab has another session. */
export const onWake = (wake: () => void, storageKey: string, signal: AbortSignal): void => {
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
