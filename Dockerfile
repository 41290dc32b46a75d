# The image that TAs grade with: docker build -t tensorgrade .
# docs/image.md has the arguments, and what a run of it needs; the last stage is what is built by default.
#
# The base is anything of Debian's or Ubuntu's with apt; where its Python is older than 3.11, or missing, apt's is used.
ARG BASE_IMAGE=python:3.12-slim-bookworm@sha256:782412e85d0f0984994c290652577d4018aff08145c85b262bb63dc0c7522254

# -- compilers, the sandbox, Python ------------------------------------------------------------------------
FROM ${BASE_IMAGE} AS tools
COPY packages/image/tools.sh /opt/tensorgrade/packages/image/
RUN sh /opt/tensorgrade/packages/image/tools.sh

# -- the grader, its packages, and what can be built beforehand --------------------------------------------
FROM tools AS built
COPY . /opt/tensorgrade
# secrets, both optional: pip's settings (another index, with its password), and the certificates it trusts
RUN --mount=type=secret,id=pip --mount=type=secret,id=ca sh /opt/tensorgrade/packages/image/build.sh

# -- the image ---------------------------------------------------------------------------------------------
FROM tools AS grader
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Tensorgrade" \
      org.opencontainers.image.description="Grades deep-learning-systems assignments by the tensors that the code computes" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=built /opt/tensorgrade /opt/tensorgrade
# What a grading writes and builds goes to a volume: /tmp may be a tmpfs from which nothing can be run. It is made
# for each run, also where the root is read-only, and any user may write to it.
ENV TMPDIR=/scratch HOME=/scratch LANG=C.UTF-8
WORKDIR /scratch
VOLUME /scratch
USER 1000:1000
ENTRYPOINT ["/opt/tensorgrade/grade"]
CMD ["--help"]

# -- the same with CUDA: --target cuda --build-arg BASE_IMAGE=(an image with CUDA's toolkit) ----------------
FROM built AS cuda-built
RUN --mount=type=secret,id=pip --mount=type=secret,id=ca sh /opt/tensorgrade/packages/image/cuda.sh build

FROM grader AS cuda
USER root
COPY --from=cuda-built /opt/tensorgrade/.venv /opt/tensorgrade/.venv
RUN sh /opt/tensorgrade/packages/image/cuda.sh run
USER 1000:1000

FROM grader
