/** The names under which browsers save files. */

/** Characters of a name. File systems take 255 bytes, and a character has up to four. */
const lengthMax = 60

/**
 * Returns the value of `Content-Disposition` for a file that is saved: a name in ASCII for every browser, and the same in
 * UTF-8 (RFC 5987). The parts of the name may be any text, such as the names of records; what no file system takes is left
 * out. `extension` has no dot.
 */
export const attachmentOf = (parts: ReadonlyArray<string>, extension: string): string => {
  const named = parts.map((part) =>
    [...part.normalize("NFC").replaceAll(unsafe, " ").trim()].slice(0, lengthMax).join("")
  )
  const name = joined(named)
  const ascii = joined(
    named.map((part) =>
      part
        .normalize("NFKD")
        .replaceAll(/\p{M}+/gu, "")
        .replaceAll(unsafeAscii, " ")
        .trim()
    )
  )
  const encoded = encodeURIComponent(`${name}.${extension}`).replaceAll(/['()*]/g, percent)
  return `attachment; filename="${ascii}.${extension}"; filename*=UTF-8''${encoded}`
}

/** Control and format characters, lone surrogates, and what paths and shells read as more than a character. */
const unsafe = /[\p{C}\p{Z}"*/:<>?\\|%;.]+/gu
const unsafeAscii = /[^A-Za-z0-9_-]+/g

/** The parts that say something. */
const joined = (parts: ReadonlyArray<string>): string => {
  const words = parts.map((part) => part.trim().replaceAll(" ", "-")).filter((part) => part !== "")
  return words.length === 0 ? "file" : words.join("-")
}

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
