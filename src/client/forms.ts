/** The forms that rooms post to a shop, in any runtime with `fetch`: bounded in bytes and time. */

/** The bytes of a form that are read. A grant is shorter. */
export const formLengthMax = 16_384

/** How long a form may take to arrive. */
export const formMillisMax = 10_000

/** The text of a posted form. Nobody else reads the body: the answer is a redirect. */
export const formOf = async ({ method, headers, body }: Request): Promise<string | undefined> => {
  if (method !== "POST" || !body) return undefined
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers.get("content-type") ?? "")) return undefined
  if (Number(headers.get("content-length")) > formLengthMax) return undefined
  const reader = body.getReader()
  const text = await within(formMillisMax, textFrom(reader)).catch(() => undefined)
  // A body that is cancelled would end the connection before the answer.
  reader.releaseLock()
  return text
}

/** The text of a short body; undefined for a longer one. */
const textFrom = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  let text = ""
  for (let length = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return text
    length += value.length
    if (length > formLengthMax) return undefined
    text += decoder.decode(value, { stream: true })
  }
}

/** The outcome of the promise. It fails if that takes longer. */
export const within = <A>(millis: number, promise: Promise<A>): Promise<A> => {
  let timer: ReturnType<typeof setTimeout>
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("late")), millis)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
