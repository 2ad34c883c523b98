// Lets the site's search run where the site is opened from a folder. A page of file:// may start no
// worker, so the worker's script runs in a hidden frame. The theme looks for the name IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = `<script>
        importScripts = (...urls) => urls.reduce((before, each) => before.then(() => new Promise(
          (resolve, reject) => {
            const script = document.createElement("script")
            Object.assign(script, {src: each, onload: resolve, onerror: reject})
            document.head.append(script)
          })), Promise.resolve())
        postMessage = (data) => parent.postMessage(data, "*")
      <\/script><script src="${url}"><\/script>`
      const waiting = (this.waiting = [])
      this.frame.addEventListener("load", () => {
        this.waiting = null
        waiting.forEach((data) => this.postMessage(data))
      })
      addEventListener("message", (event) => {
        if (event.source !== this.frame.contentWindow) return
        const copy = new MessageEvent("message", {data: event.data})
        this.dispatchEvent(copy)
        this.onmessage?.(copy)
      })
      document.body.append(this.frame)
    }

    postMessage(data) {
      // Not the window's postMessage, which is the worker's own way out.
      if (this.waiting) this.waiting.push(data)
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data}))
    }

    terminate() {
      this.frame.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
