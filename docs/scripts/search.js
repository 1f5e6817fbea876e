// The search reads a hyphen before a word as a prohibition. Here it begins an option, as in `--deals`.
const postMessage = Worker.prototype.postMessage
Worker.prototype.postMessage = function (message, ...rest) {
  if (typeof message?.data === "string")
    message = { ...message, data: message.data.replace(/(^|\s)-+(?=\w)/g, "$1") }
  return postMessage.call(this, message, ...rest)
}
