/**
 * The heap of a Node process, after everything that can be collected has been. The process is started with a port for
 * its inspector, which opens only when it is asked to (SIGUSR1), so that it costs nothing while load is measured.
 */

/** Bytes in use: heap, and what lies outside it (buffers). */
export async function heapBytes(processId: number, inspectorPort: number): Promise<number> {
  process.kill(processId, "SIGUSR1")
  const inspector = await connectInspector(inspectorPort)
  try {
    // The second collection takes what the first one only released.
    await inspector.call("HeapProfiler.collectGarbage")
    await inspector.call("HeapProfiler.collectGarbage")
    const answer = await inspector.call("Runtime.evaluate", { expression: "JSON.stringify(process.memoryUsage())" })
    const usage = JSON.parse(answer.result.value) as { readonly heapUsed: number; readonly external: number }
    return usage.heapUsed + usage.external
  } finally {
    inspector.close()
  }
}

interface Answer {
  readonly result: { readonly value: string }
}

async function connectInspector(port: number) {
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
