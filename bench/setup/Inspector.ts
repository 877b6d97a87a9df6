/**
 * Access to a Node process through its inspector. The process has a port for it that opens only on SIGUSR1, so the
 * inspector costs nothing during a measurement.
 */

/** Evaluates expressions in the process. Their values must be JSON. */
export interface Inspector {
  readonly evaluate: (expression: string) => Promise<unknown>
  readonly collectGarbage: () => Promise<void>
}

/** Opens the inspector, calls `use`, and closes the connection. */
export async function inspecting<A>(
  processId: number,
  port: number,
  use: (inspector: Inspector) => Promise<A>
): Promise<A> {
  process.kill(processId, "SIGUSR1")
  const connection = await connect(port)
  try {
    return await use({
      evaluate: async (expression) => {
        const answer = await connection.call("Runtime.evaluate", { expression, returnByValue: true })
        if (answer.exceptionDetails !== undefined) {
          throw new Error(`${expression} failed in the process: ${JSON.stringify(answer.exceptionDetails)}`)
        }
        return answer.result.value
      },
      collectGarbage: async () => void (await connection.call("HeapProfiler.collectGarbage"))
    })
  } finally {
    connection.close()
  }
}

/** Returns the bytes that a process uses, in its heap and outside it (buffers), after garbage collections. */
export function heapBytes(processId: number, port: number): Promise<number> {
  return inspecting(processId, port, async ({ collectGarbage, evaluate }) => {
    // The second collection frees what the first one only released.
    await collectGarbage()
    await collectGarbage()
    const usage = (await evaluate("process.memoryUsage()")) as { readonly heapUsed: number; readonly external: number }
    return usage.heapUsed + usage.external
  })
}

/** The longest delays of a timer that is due each millisecond. */
export interface Held {
  /** By the clock, including time in which the process waited for a processor. */
  readonly longestMilliseconds: number
  /** By the processor time of its thread: the work of one turn, garbage collections included. */
  readonly longestWorkMilliseconds: number
}

/** Watches a process's event loop from inside. The returned function ends the watch and returns the delays. */
export async function watchEventLoop(processId: number, port: number): Promise<() => Promise<Held>> {
  await inspecting(processId, port, ({ evaluate }) => evaluate(`globalThis.held = (${watch.toString()})(); 0`))
  return () => inspecting(processId, port, async ({ evaluate }) => (await evaluate("held()")) as Held)
}

/** Runs in the other process, so it cannot reference other declarations. */
function watch() {
  let longestMilliseconds = 0
  let longestWorkMicroseconds = 0
  let at = performance.now()
  let used = process.threadCpuUsage()
  const timer = setInterval(() => {
    const now = performance.now()
    const nowUsed = process.threadCpuUsage()
    longestMilliseconds = Math.max(longestMilliseconds, now - at)
    longestWorkMicroseconds = Math.max(longestWorkMicroseconds, nowUsed.user + nowUsed.system - used.user - used.system)
    at = now
    used = nowUsed
  }, 1)
  return () => {
    clearInterval(timer)
    return { longestMilliseconds, longestWorkMilliseconds: longestWorkMicroseconds / 1000 }
  }
}

interface Answer {
  readonly result: { readonly value: unknown }
  readonly exceptionDetails?: unknown
}

async function connect(port: number) {
  const url = await inspectorUrl(port)
  const socket = new WebSocket(url)
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve())
    socket.addEventListener("error", () => reject(new Error(`No inspector at ${url}`)))
  })
  let lastId = 0
  return {
    call: (method: string, parameters: object = {}): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const id = ++lastId
        const timer = setTimeout(() => reject(new Error(`The inspector did not answer ${method}`)), 60_000)
        const onMessage = (event: MessageEvent) => {
          const message = JSON.parse(String(event.data)) as { readonly id?: number; readonly result: Answer }
          if (message.id !== id) return
          clearTimeout(timer)
          socket.removeEventListener("message", onMessage)
          resolve(message.result)
        }
        socket.addEventListener("message", onMessage)
        socket.send(JSON.stringify({ id, method, params: parameters }))
      }),
    close: () => socket.close()
  }
}

async function inspectorUrl(port: number): Promise<string> {
  const deadline = performance.now() + 15_000
  for (;;) {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`)
      const [target] = (await answer.json()) as Array<{ readonly webSocketDebuggerUrl: string }>
      if (target !== undefined) return target.webSocketDebuggerUrl
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
