// A look-up, batches and an upload with the client that openapi-generator makes, in the folder gelu.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"example.org/use/gelu"
)

func must[T any](found T, err error) T {
	if err != nil {
		panic(err)
	}
	return found
}

// file has the content, and is read from its beginning: the client sends and returns files.
func file(content []byte) *os.File {
	found := must(os.CreateTemp("", "gelu"))
	must(found.Write(content))
	must(found.Seek(0, io.SeekStart))
	return found
}

func main() {
	settings := gelu.NewConfiguration()
	settings.Servers = gelu.ServerConfigurations{{URL: os.Args[1]}}
	client, ctx := gelu.NewAPIClient(settings), context.Background()
	reference, verification := client.ReferenceAPI, client.VerificationAPI

	found, _, err := reference.GetReferenceValue(ctx, gelu.GELU, gelu.FLOAT32, "-6.5").Execute()
	must(found, err)
	fmt.Println("look-up", found.YBits, *found.Kappa.Get())

	inputs := gelu.BatchInputs{XBits: []string{"0x3f800000", "0xc0d00000"}}
	batch, _, err := reference.ComputeReferenceValues(ctx, gelu.GELU, gelu.FLOAT32).BatchInputs(inputs).Execute()
	must(batch, err)
	fmt.Println("batch", batch.YBits[0], batch.YBits[1])

	x := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 0x3f800000), 0xc0d00000)
	raw, _, err := reference.ComputeReferenceBits(ctx, gelu.GELU, gelu.FLOAT32).Body(file(x)).Execute()
	y := must(io.ReadAll(must(raw, err)))
	fmt.Printf("raw 0x%08x 0x%08x\n", binary.LittleEndian.Uint32(y), binary.LittleEndian.Uint32(y[4:]))

	landmarks, _, err := verification.GetInputs(ctx, gelu.LANDMARKS, "float16").Execute()
	outputs, _, err := reference.ComputeReferenceBits(ctx, gelu.GELU, gelu.FLOAT16).Body(must(landmarks, err)).Execute()
	job, _, err := verification.VerifyOutputs(ctx).Function(gelu.GELU).Dtype("float16").Plan(gelu.LANDMARKS).
		Prefer("wait=20").Body(must(outputs, err)).Execute()
	fmt.Println("upload", *must(job, err).Grade.Get())

	_, _, err = reference.GetReferenceValue(ctx, gelu.GELU, gelu.FLOAT32, "one").Execute()
	problem := err.(*gelu.GenericOpenAPIError).Model().(gelu.ProblemDetails)
	fmt.Println("error", problem.Status)
}
