# Quarry as an MCP server that can search and read one folder, and change nothing:
#
#   docker build -t quarry .
#   docker run -i --rm --network none --mount type=bind,src="$PWD",dst=/work,readonly quarry
#
# Arguments replace the default ones, so that files can be changed:
#
#   docker run -i --rm --user "$(id -u):$(id -g)" --mount type=bind,src="$PWD",dst=/work \
#     --mount type=volume,src=quarry-state,dst=/state quarry mcp --root /work

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS=linux TARGETARCH=amd64 VERSION=0.0.0
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
      -ldflags "-s -w -buildid= -X quarry/internal/cli/env.stamped=v$VERSION" -o /out/quarry ./cmd/quarry \
    && mkdir -m 1777 /out/state

FROM gcr.io/distroless/static-debian12:nonroot
# By the name the MCP registry knows that the image is ours.
ARG SERVER_NAME=io.github.OWNER/quarry
LABEL io.modelcontextprotocol.server.name=$SERVER_NAME
COPY --from=build /out/quarry /quarry
COPY --from=build /out/state /state
COPY LICENSE /LICENSE
ENV XDG_STATE_HOME=/state XDG_CACHE_HOME=/state XDG_DATA_HOME=/state
USER nonroot
ENTRYPOINT ["/quarry"]
CMD ["mcp", "--root", "/work", "--read-only"]
