/** A value that a browser keeps. */

/** Where values are kept: `localStorage`, or something like it. */
export interface TokenStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

/** Returns nothing where a browser has no such thing, or denies it: a frame, a setting, or a full disk may do so. */
export const ifAllowed = <A>(get: () => A): A | undefined => {
  try {
    return get()
  } catch {
    return undefined
  }
}

/** A value in a storage. Where that is forbidden, full or emptied by others, the page has the value until it closes. */
export interface StoredValue {
  /** Returns an empty text if there is none. */
  readonly get: () => string
  /** Returns whether the storage has the value. An empty one is removed. */
  readonly set: (value: string) => boolean
}

export const storedValue = (open: () => TokenStorage, key: string): StoredValue => {
  let value = ""
  let isStored = true
  return {
    get: () => (value = (isStored && ifAllowed(() => open().getItem(key))) || value),
    set: (next) => {
      value = next
      const done = ifAllowed(() => {
        if (next) open().setItem(key, next)
        else open().removeItem(key)
        return true
      })
      return (isStored = done === true)
    }
  }
}
